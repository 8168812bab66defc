mod blocks;
