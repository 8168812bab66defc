-- Fixed part of the dissector: reads the tables above it, which are generated from the layout.

local proto = Proto(PROFILE.id, PROFILE.title)
local fields = {}
local by_header = {}

local function values_of(reference)
  if reference == PROFILE.opcode_field then return PROFILE.opcode_names end
  return PROFILE.codes[reference]
end

for _, header in ipairs(PROFILE.headers) do
  by_header[header.name] = header
  for _, f in ipairs(header.fields) do
    local id = PROFILE.id .. "." .. header.name:lower() .. "." .. f.name
    local label = header.name .. " " .. f.name
    local values = values_of(header.name .. "." .. f.name)
    if f.bytes then
      f.proto = ProtoField.bytes(id, label, base.NONE, f.about)
    elseif f.width > 32 then
      f.proto = ProtoField.uint64(id, label, base.HEX, nil, nil, f.about)
    else
      f.proto = ProtoField.uint32(id, label, base.DEC_HEX, values, nil, f.about)
    end
    table.insert(fields, f.proto)
    for _, flag in ipairs(PROFILE.flags[header.name .. "." .. f.name] or {}) do
      flag.proto = ProtoField.bool(id .. "." .. flag.name, flag.name, base.NONE, nil, nil, flag.about)
      table.insert(fields, flag.proto)
    end
  end
end

local payload_field = ProtoField.bytes(PROFILE.id .. ".payload", "Payload")
local pad_field = ProtoField.bytes(PROFILE.id .. ".pad_bytes", "Pad")
local icrc_field = ProtoField.uint32(PROFILE.id .. ".icrc", "ICRC", base.HEX)
table.insert(fields, payload_field)
table.insert(fields, pad_field)
table.insert(fields, icrc_field)
proto.fields = fields

local short_expert = ProtoExpert.new(PROFILE.id .. ".short", "Packet is shorter than its headers", expert.group.MALFORMED, expert.severity.ERROR)
local expect_expert = ProtoExpert.new(PROFILE.id .. ".expect", "Field has not its fixed value", expert.group.PROTOCOL, expert.severity.WARN)
proto.experts = { short_expert, expect_expert }

-- Adds one header to the tree and its values to `found`. Returns the offset behind it, or nil if it does not fit.
local function add_header(tree, buffer, offset, header, found)
  if buffer:len() < offset + header.len then
    tree:add_proto_expert_info(short_expert)
    return nil
  end
  local bytes = buffer:range(offset, header.len)
  local subtree = tree:add(bytes, header.name .. ": " .. header.about)
  for _, f in ipairs(header.fields) do
    local first = math.floor(f.offset / 8)
    local last = math.floor((f.offset + f.width - 1) / 8)
    local range = bytes:range(first, last - first + 1)
    if f.bytes then
      subtree:add(f.proto, range)
    else
      local value = range:bitfield(f.offset % 8, f.width)
      local item = subtree:add(f.proto, range, value)
      found[f.name] = found[f.name] or value
      if f.expect and value ~= f.expect then item:add_proto_expert_info(expect_expert) end
      for _, flag in ipairs(PROFILE.flags[header.name .. "." .. f.name] or {}) do
        local set = math.floor(value / 2 ^ flag.bit) % 2 == 1
        item:add(flag.proto, range, set)
        if set then found.flags_text = (found.flags_text or "") .. " " .. flag.name end
      end
    end
  end
  return offset + header.len
end

local function info_text(opcode, found)
  local text = string.format("%s conn %d path %d ppsn %d", opcode.name, found.conn, found.home, found.ppsn)
  if found.via ~= found.home then text = text .. string.format(" via %d", found.via) end
  if found.rtx == 1 then text = text .. " resend" end
  if found.first then text = text .. string.format(" qp %d msn %d", found.dest_qp, found.msn) end
  return text .. (found.flags_text or "")
end

function proto.dissector(buffer, pinfo, tree)
  if buffer:len() < PROFILE.common_len + PROFILE.icrc_len then return 0 end
  local opcode_range = buffer:range(math.floor(PROFILE.opcode_offset / 8), 1)
  local opcode = PROFILE.opcodes[opcode_range:uint()]
  -- Other opcodes on this port are RoCEv2's or another profile's.
  if not opcode then return 0 end

  pinfo.cols.protocol = PROFILE.name
  local root = tree:add(proto, buffer(), PROFILE.name .. " " .. opcode.name)
  local body = buffer:range(0, buffer:len() - PROFILE.icrc_len):tvb()
  local offset, found = 0, {}
  for _, name in ipairs(opcode.headers) do
    offset = add_header(root, body, offset, by_header[name], found)
    if not offset then return buffer:len() end
  end
  if opcode.when_imm and found.imm == 1 then
    offset = add_header(root, body, offset, by_header[opcode.when_imm], found)
    if not offset then return buffer:len() end
  end
  local payload_len = body:len() - offset - found.pad
  if payload_len > 0 then root:add(payload_field, body:range(offset, payload_len)) end
  if found.pad > 0 and payload_len >= 0 then root:add(pad_field, body:range(offset + payload_len, found.pad)) end
  root:add_le(icrc_field, buffer:range(buffer:len() - PROFILE.icrc_len, PROFILE.icrc_len))
  pinfo.cols.info = info_text(opcode, found)
  return buffer:len()
end

DissectorTable.get("udp.port"):add(PROFILE.udp_port, proto)
