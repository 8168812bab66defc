-- The part of Wireshark's Lua API that a dissector of ours may use. In: `dissect(port, bytes)` from the test.
-- Out: what was consumed, every tree item with its value as text, the experts, the columns. Guarantees: strict; any other
-- call, an unregistered field, a range outside of its buffer or a value of the wrong type is an error.

local function strict(name, values)
  return setmetatable(values, { __index = function(_, key) error(name .. " has no " .. tostring(key), 2) end })
end

local function check(condition, text, ...)
  if not condition then error(string.format(text, ...), 3) end
end

base = strict("base", { NONE = 0, DEC = 1, HEX = 2, DEC_HEX = 3 })
expert = strict("expert", {
  group = strict("expert.group", { MALFORMED = 1, PROTOCOL = 2 }),
  severity = strict("expert.severity", { WARN = 1, ERROR = 2 }),
})

-- Fields ----------------------------------------------------------------------------------------------------------------
local abbreviations = {}

local function new_field(kind, abbr, name, display)
  check(type(abbr) == "string" and abbr:match("^[%l%d_.]+$"), "%s is no filter name", abbr)
  check(not abbreviations[abbr], "%s is defined twice", abbr)
  check(type(name) == "string" and #name > 0, "%s has no name", abbr)
  check(display == nil or math.type(display) == "integer", "%s has no display base", abbr)
  abbreviations[abbr] = true
  return { is = "field", kind = kind, abbr = abbr }
end

ProtoField = strict("ProtoField", {
  bytes = function(abbr, name, display) return new_field("bytes", abbr, name, display) end,
  bool = function(abbr, name, display) return new_field("bool", abbr, name, display) end,
  uint32 = function(abbr, name, display, names)
    check(names == nil or type(names) == "table", "%s: value names are a table", abbr)
    return new_field("uint32", abbr, name, display)
  end,
  uint64 = function(abbr, name, display) return new_field("uint64", abbr, name, display) end,
})

ProtoExpert = strict("ProtoExpert", {
  new = function(abbr, text, group, severity)
    check(type(abbr) == "string" and type(text) == "string" and group and severity, "ProtoExpert.new: four arguments")
    return { is = "expert", abbr = abbr }
  end,
})

-- Numbers above 32 bits are objects without arithmetic, as in Wireshark.
local UInt64 = {}

-- Buffers ---------------------------------------------------------------------------------------------------------------
local Range = {}
Range.__index = Range
local Tvb = {}
Tvb.__index = Tvb

local function new_range(bytes, at)
  check(#bytes > 0, "an empty range")
  return setmetatable({ is = "range", bytes = bytes, at = at }, Range)
end

local function part(whole, offset, length)
  offset, length = offset or 0, length or #whole.bytes - (offset or 0)
  check(math.type(offset) == "integer" and math.type(length) == "integer", "a range is made of whole numbers")
  check(offset >= 0 and length >= 0 and offset + length <= #whole.bytes, "range %d, %d is outside of %d bytes", offset, length, #whole.bytes)
  return new_range(whole.bytes:sub(offset + 1, offset + length), whole.at + offset)
end

local function new_tvb(bytes, at) return setmetatable({ is = "tvb", bytes = bytes, at = at }, Tvb) end

function Tvb:len() return #self.bytes end
function Tvb:range(offset, length) return part(self, offset, length) end
function Tvb:__call(offset, length) return part(self, offset, length) end
function Range:len() return #self.bytes end
function Range:range(offset, length) return part(self, offset, length) end
function Range:tvb() return new_tvb(self.bytes, self.at) end

function Range:uint()
  check(#self.bytes <= 4, "uint() of %d bytes", #self.bytes)
  return (string.unpack(">I" .. #self.bytes, self.bytes))
end

function Range:le_uint()
  check(#self.bytes <= 4, "le_uint() of %d bytes", #self.bytes)
  return (string.unpack("<I" .. #self.bytes, self.bytes))
end

function Range:bitfield(position, length)
  check(length >= 1 and length <= 64 and position >= 0 and position + length <= 8 * #self.bytes, "bits %d, %d of %d bytes", position, length, #self.bytes)
  local value = 0
  for bit = position, position + length - 1 do
    local set = self.bytes:byte(bit // 8 + 1) >> (7 - bit % 8) & 1
    value = value << 1 | set
  end
  if length <= 32 then return value end
  return setmetatable({ value = value }, UInt64)
end

-- Tree ------------------------------------------------------------------------------------------------------------------
local registered = {}
local registered_experts = {}
local result

local function text_of(field, range, value, little)
  if field.kind == "bytes" then
    check(value == nil, "%s takes its bytes from the range", field.abbr)
    return (range.bytes:gsub(".", function(c) return string.format("%02x", c:byte()) end))
  elseif field.kind == "bool" then
    check(type(value) == "boolean", "%s wants a boolean", field.abbr)
    return value and "1" or "0"
  elseif field.kind == "uint64" then
    check(getmetatable(value) == UInt64, "%s wants a 64-bit number", field.abbr)
    return string.format("0x%x", value.value)
  end
  value = value or (little and range:le_uint() or range:uint())
  check(math.type(value) == "integer" and value >= 0 and value < 2 ^ 32, "%s wants a 32-bit number", field.abbr)
  return string.format("0x%x", value)
end

local Item = {}
Item.__index = Item

local function add(what, range, value, little)
  check(type(what) == "table", "tree:add of a %s", type(what))
  if what.is == "range" then
    check(type(range) == "string", "a subtree has a text")
  elseif what.is == "proto" then
    check(range.is == "range" and type(value) == "string", "the protocol's item has a range and a text")
  else
    check(what.is == "field" and registered[what], "a field that proto.fields does not list")
    check(type(range) == "table" and range.is == "range", "%s has no range", what.abbr)
    table.insert(result.items, { abbr = what.abbr, value = text_of(what, range, value, little), at = range.at, len = #range.bytes })
  end
  return setmetatable({}, Item)
end

function Item:add(what, range, value) return add(what, range, value, false) end
function Item:add_le(what, range, value) return add(what, range, value, true) end
function Item:add_proto_expert_info(info)
  check(registered_experts[info], "an expert that proto.experts does not list")
  table.insert(result.experts, info.abbr)
end

-- Protocols -------------------------------------------------------------------------------------------------------------
function Proto(name, title)
  check(type(name) == "string" and type(title) == "string", "a protocol has a name and a title")
  local proto = { is = "proto" }
  return setmetatable(proto, {
    __newindex = function(_, key, value)
      if key == "fields" then
        for _, field in ipairs(value) do registered[field] = true end
      elseif key == "experts" then
        for _, info in ipairs(value) do registered_experts[info] = true end
      else
        check(key == "dissector" and type(value) == "function", "a protocol has no %s", key)
        rawset(proto, key, value)
      end
    end,
  })
end

local ports = {}
DissectorTable = strict("DissectorTable", {
  get = function(name)
    check(name == "udp.port", "no table %s", name)
    return { add = function(_, port, proto) ports[port] = proto end }
  end,
})

function dissect(port, bytes)
  check(ports[port], "nothing is registered for port %d", port)
  result = { items = {}, experts = {}, cols = {} }
  local columns = setmetatable({}, {
    __newindex = function(_, key, value)
      check((key == "protocol" or key == "info") and type(value) == "string", "no column %s", key)
      result.cols[key] = value
    end,
  })
  result.consumed = ports[port].dissector(new_tvb(bytes, 0), strict("pinfo", { cols = columns }), setmetatable({}, Item))
  check(math.type(result.consumed) == "integer", "the dissector says how much it took")
  return result
end
