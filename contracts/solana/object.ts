// Reads the parts of a relocatable BPF object from clang that a program needs: code, read-only data, and the positions
// in the code that call a syscall or contain an address of that data. Source: ELF-64 object file format, LLVM's BPF
// relocations.

const SYMBOL = 24
const RELOCATION = 16

/** R_BPF_64_64: an address in two halves, in an instruction of 16 bytes. R_BPF_64_32: a call. */
const ADDRESS = 1
const CALL = 10

const FLAG_WRITABLE = 1n
const FLAG_ALLOCATED = 2n
const FLAG_EXECUTABLE = 4n

export interface ProgramObject {
  readonly text: Buffer
  /** Position of `entrypoint` in the text. */
  readonly entry: number
  /** All read-only sections, concatenated. */
  readonly readOnly: Buffer
  /** Calls of syscalls: position in the text, and name. */
  readonly calls: ReadonlyArray<{ readonly at: number; readonly name: string }>
  /** Addresses of read-only data: position in the text, and offset in the data. */
  readonly addresses: ReadonlyArray<{ readonly at: number; readonly offset: number }>
}

interface Section {
  readonly name: string
  readonly flags: bigint
  readonly bytes: Buffer
  readonly alignment: number
}

const textAt = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, bytes.indexOf(0, at))

const readSections = (object: Buffer): Section[] => {
  const at = Number(object.readBigUInt64LE(40))
  const count = object.readUInt16LE(60)
  const headers = Array.from({ length: count }, (_, index) => object.subarray(at + 64 * index, at + 64 * (index + 1)))
  const bytesOf = (header: Buffer): Buffer => {
    const place = Number(header.readBigUInt64LE(24))
    return object.subarray(place, place + Number(header.readBigUInt64LE(32)))
  }
  const names = bytesOf(headers[object.readUInt16LE(62)]!)
  return headers.map((header) => ({
    name: textAt(names, header.readUInt32LE(0)),
    flags: header.readBigUInt64LE(8),
    bytes: bytesOf(header),
    alignment: Number(header.readBigUInt64LE(48)),
  }))
}

/** @throws Error if the object contains something that the loader would not run */
export const readObject = (object: Buffer): ProgramObject => {
  const sections = readSections(object)
  const named = (name: string): Buffer => sections.find((section) => section.name === name)?.bytes ?? Buffer.alloc(0)
  const [text, symbols, symbolNames, relocations] = ['.text', '.symtab', '.strtab', '.rel.text'].map(named) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ]

  /** Start of each read-only section, by its number in the object. */
  const starts = new Map<number, number>()
  const pieces: Buffer[] = []
  let length = 0
  for (const [index, { name, flags, bytes, alignment }] of sections.entries()) {
    if ((flags & FLAG_ALLOCATED) === 0n || bytes.length === 0 || name === '.text') continue
    if ((flags & (FLAG_WRITABLE | FLAG_EXECUTABLE)) !== 0n) throw new Error(`a program can have no section ${name}`)
    const padding = -length & (alignment - 1)
    pieces.push(Buffer.alloc(padding), bytes)
    starts.set(index, length + padding)
    length += padding + bytes.length
  }

  const symbolAt = (index: number) => {
    const symbol = symbols.subarray(SYMBOL * index, SYMBOL * (index + 1))
    return {
      name: textAt(symbolNames, symbol.readUInt32LE(0)),
      section: symbol.readUInt16LE(6),
      value: Number(symbol.readBigUInt64LE(8)),
    }
  }
  const calls: { at: number; name: string }[] = []
  const addresses: { at: number; offset: number }[] = []
  for (let place = 0; place < relocations.length; place += RELOCATION) {
    const at = Number(relocations.readBigUInt64LE(place))
    const type = relocations.readUInt32LE(place + 8)
    const { name, section, value } = symbolAt(relocations.readUInt32LE(place + 12))
    const start = starts.get(section)
    if (type === CALL && section === 0 && name.startsWith('sol_')) calls.push({ at, name })
    else if (type === ADDRESS && start !== undefined) {
      addresses.push({ at, offset: start + value + text.readInt32LE(at + 4) })
    } else throw new Error(`a program can't refer to ${name || `section ${section}`} (relocation ${type})`)
  }
  const symbolCount = symbols.length / SYMBOL
  const entry = Array.from({ length: symbolCount }, (_, index) => symbolAt(index)).find(
    ({ name }) => name === 'entrypoint',
  )
  if (entry === undefined) throw new Error('a program needs an entrypoint')
  return { text, entry: entry.value, readOnly: Buffer.concat(pieces), calls, addresses }
}
