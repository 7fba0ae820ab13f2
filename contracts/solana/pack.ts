// Converts a relocatable BPF object from clang to the file that Solana's loader accepts: an ELF shared object for
// machine 247, with version 0 of its instruction set. The loader resolves syscalls through relocations of calls with
// the immediate -1, leaves calls within the program unchanged, and maps read-only data at 0x100000000 plus its file
// offset. Sources: ELF-64 object file format; anza-xyz/sbpf, src/elf.rs, its lax parser.
import { readObject } from './object.ts'

const HEADER = 64
const PROGRAM_HEADER = 56
const SECTION_HEADER = 64
const SYMBOL = 24
const RELOCATION = 16

const READ_ONLY_START = 0x1_0000_0000n
/** R_BPF_64_32: the loader replaces the immediate with the syscall's hash. */
const CALL_RELOCATION = 10

/** SHT_*, SHF_*, PT_* and DT_* of the format. */
const SECTION = { none: 0, bits: 1, strings: 3, dynamic: 6, relocations: 9, dynamicSymbols: 11 } as const
const ALLOCATED = 2n
const EXECUTABLE = 4n
const SEGMENT = { load: 1, dynamic: 2 } as const
const DYNAMIC = {
  end: 0n,
  stringTable: 5n,
  symbolTable: 6n,
  stringBytes: 10n,
  symbolBytes: 11n,
  relocations: 17n,
  relocationsBytes: 18n,
  relocationBytes: 19n,
} as const

interface Part {
  readonly name: string
  readonly type: number
  readonly flags: bigint
  readonly bytes: Buffer
  readonly link?: string
  readonly entryBytes?: number
}

const aligned = (at: number): number => (at + 7) & ~7

const words = (...values: readonly bigint[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length)
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(value, 8 * index)
  return bytes
}

/**
 * @param object output of `clang --target=bpfel -c`
 * @throws Error if it contains something that the loader would not run
 */
export const packProgram = (object: Uint8Array): Buffer => {
  const { text, entry, readOnly, calls, addresses } = readObject(Buffer.from(object))
  const syscalls = [...new Set(calls.map(({ name }) => name))].sort()
  const names = Buffer.from(`\0${syscalls.map((name) => `${name}\0`).join('')}`)
  const textAt = HEADER + 3 * PROGRAM_HEADER
  const readOnlyAt = aligned(textAt + text.length)

  const code = Buffer.from(text)
  for (const { at, offset } of addresses) {
    const address = READ_ONLY_START + BigInt(readOnlyAt + offset)
    code.writeUInt32LE(Number(address & 0xffff_ffffn), at + 4)
    code.writeUInt32LE(Number(address >> 32n), at + 12)
  }
  const symbols = Buffer.alloc((1 + syscalls.length) * SYMBOL)
  for (const [index, name] of syscalls.entries()) {
    symbols.writeUInt32LE(names.indexOf(`\0${name}\0`) + 1, (1 + index) * SYMBOL)
    // A global symbol without a type, defined elsewhere.
    symbols[(1 + index) * SYMBOL + 4] = 0x10
  }
  const relocations = words(
    ...calls.flatMap(({ at, name }) => [
      BigInt(textAt + at),
      (BigInt(1 + syscalls.indexOf(name)) << 32n) | BigInt(CALL_RELOCATION),
    ]),
  )
  const symbolsAt = aligned(readOnlyAt + readOnly.length)
  const namesAt = aligned(symbolsAt + symbols.length)
  const relocationsAt = aligned(namesAt + names.length)
  const dynamicAt = aligned(relocationsAt + relocations.length)
  const entries: ReadonlyArray<readonly [bigint, number]> = [
    [DYNAMIC.relocations, relocationsAt],
    [DYNAMIC.relocationsBytes, relocations.length],
    [DYNAMIC.relocationBytes, RELOCATION],
    [DYNAMIC.symbolTable, symbolsAt],
    [DYNAMIC.symbolBytes, SYMBOL],
    [DYNAMIC.stringTable, namesAt],
    [DYNAMIC.stringBytes, names.length],
    [DYNAMIC.end, 0],
  ]
  const dynamic = words(...entries.flatMap(([tag, value]) => [tag, BigInt(value)]))
  const sections: readonly Part[] = [
    { name: '.text', type: SECTION.bits, flags: ALLOCATED | EXECUTABLE, bytes: code },
    { name: '.rodata', type: SECTION.bits, flags: ALLOCATED, bytes: readOnly },
    {
      name: '.dynsym',
      type: SECTION.dynamicSymbols,
      flags: ALLOCATED,
      bytes: symbols,
      link: '.dynstr',
      entryBytes: SYMBOL,
    },
    { name: '.dynstr', type: SECTION.strings, flags: ALLOCATED, bytes: names },
    {
      name: '.rel.dyn',
      type: SECTION.relocations,
      flags: ALLOCATED,
      bytes: relocations,
      link: '.dynsym',
      entryBytes: RELOCATION,
    },
    { name: '.dynamic', type: SECTION.dynamic, flags: ALLOCATED, bytes: dynamic, link: '.dynstr', entryBytes: 16 },
  ]
  const segments = [
    { type: SEGMENT.load, flags: 5, at: textAt, length: code.length },
    { type: SEGMENT.load, flags: 4, at: readOnlyAt, length: dynamicAt + dynamic.length - readOnlyAt },
    { type: SEGMENT.dynamic, flags: 4, at: dynamicAt, length: dynamic.length },
  ]
  return writeFile(sections, segments, textAt + entry)
}

interface Segment {
  readonly type: number
  readonly flags: number
  readonly at: number
  readonly length: number
}

/** Aligns sections to 8 bytes. The address of a section is its file offset. */
const writeFile = (parts: readonly Part[], segments: readonly Segment[], entry: number): Buffer => {
  const labels = Buffer.from(`\0${[...parts, { name: '.shstrtab' }].map(({ name }) => `${name}\0`).join('')}`)
  const all: readonly Part[] = [...parts, { name: '.shstrtab', type: SECTION.strings, flags: 0n, bytes: labels }]
  const places: number[] = []
  let end = HEADER + segments.length * PROGRAM_HEADER
  for (const { bytes } of all) {
    places.push(aligned(end))
    end = aligned(end) + bytes.length
  }
  const sectionsAt = aligned(end)
  const file = Buffer.alloc(sectionsAt + (1 + all.length) * SECTION_HEADER)
  // 64 bits, little-endian, version 1.
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  file.writeUInt16LE(3, 16) // a shared object
  file.writeUInt16LE(247, 18) // eBPF
  file.writeUInt32LE(1, 20)
  words(BigInt(entry), BigInt(HEADER), BigInt(sectionsAt)).copy(file, 24)
  const sizes = [HEADER, PROGRAM_HEADER, segments.length, SECTION_HEADER, 1 + all.length, all.length]
  for (const [index, value] of sizes.entries()) file.writeUInt16LE(value, 52 + 2 * index)

  for (const [index, { type, flags, at, length }] of segments.entries()) {
    const header = HEADER + index * PROGRAM_HEADER
    file.writeUInt32LE(type, header)
    file.writeUInt32LE(flags, header + 4)
    const [place, bytes] = [BigInt(at), BigInt(length)]
    words(place, place, place, bytes, bytes, 8n).copy(file, header + 8)
  }
  for (const [index, { name, type, flags, bytes, link, entryBytes }] of all.entries()) {
    const place = places[index]!
    bytes.copy(file, place)
    const header = sectionsAt + (1 + index) * SECTION_HEADER
    file.writeUInt32LE(labels.indexOf(`\0${name}\0`) + 1, header)
    file.writeUInt32LE(type, header + 4)
    const address = flags === 0n ? 0n : BigInt(place)
    words(flags, address, BigInt(place), BigInt(bytes.length)).copy(file, header + 8)
    file.writeUInt32LE(link === undefined ? 0 : 1 + all.findIndex((part) => part.name === link), header + 40)
    words(8n, BigInt(entryBytes ?? 0)).copy(file, header + 48)
  }
  return file
}
