// A Solana program that accepts every call, `mov64 r0, 0; exit` as an ELF file, in place of programs whose code is not
// available. Source: ELF-64 object file format; the eBPF machine is 247.

const HEADER = 64
const SECTION_HEADER = 64

const SHARED_OBJECT = 3
const EBPF = 247
const SECTION_PROGRAM_BITS = 1
const SECTION_STRINGS = 3
const ALLOCATED_EXECUTABLE = 6n

export const acceptingProgram = (): Uint8Array => {
  const code = Buffer.from('b700000000000000' + '9500000000000000', 'hex')
  const names = Buffer.from('\0.text\0.shstrtab\0')
  const namesAt = HEADER + code.length
  const sectionsAt = Math.ceil((namesAt + names.length) / 8) * 8
  const file = Buffer.alloc(sectionsAt + 3 * SECTION_HEADER)

  // 64 bits, little-endian, version 1.
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  file.writeUInt16LE(SHARED_OBJECT, 16)
  file.writeUInt16LE(EBPF, 18)
  file.writeUInt32LE(1, 20)
  file.writeBigUInt64LE(BigInt(HEADER), 24) // entry point
  file.writeBigUInt64LE(BigInt(sectionsAt), 40)
  file.writeUInt16LE(HEADER, 52)
  file.writeUInt16LE(56, 54)
  file.writeUInt16LE(SECTION_HEADER, 58)
  file.writeUInt16LE(3, 60) // sections; the first is empty
  file.writeUInt16LE(2, 62) // index of the section with the names

  code.copy(file, HEADER)
  names.copy(file, namesAt)
  /** @param range address, offset and size */
  const section = (number: number, name: string, type: number, flags: bigint, ...range: number[]) => {
    const place = sectionsAt + number * SECTION_HEADER
    file.writeUInt32LE(names.indexOf(`${name}\0`), place)
    file.writeUInt32LE(type, place + 4)
    file.writeBigUInt64LE(flags, place + 8)
    for (const [index, value] of range.entries()) file.writeBigUInt64LE(BigInt(value), place + 16 + 8 * index)
    file.writeBigUInt64LE(8n, place + 48)
  }
  section(1, '.text', SECTION_PROGRAM_BITS, ALLOCATED_EXECUTABLE, HEADER, HEADER, code.length)
  section(2, '.shstrtab', SECTION_STRINGS, 0n, 0, namesAt, names.length)
  return file
}
