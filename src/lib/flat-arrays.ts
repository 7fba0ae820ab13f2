// Named arrays of numbers and texts in one block of memory, which another process can use without parsing.

export type FlatArray = Uint8Array | Uint32Array | Int32Array
export type FlatArrays = Readonly<Record<string, FlatArray>>

const ALIGNMENT = 8
const KINDS = { bytes: Uint8Array, words: Uint32Array, integers: Int32Array } as const
type Kind = keyof typeof KINDS

const kindOf = (array: FlatArray): Kind =>
  array instanceof Uint32Array ? 'words' : array instanceof Int32Array ? 'integers' : 'bytes'
const aligned = (size: number): number => Math.ceil(size / ALIGNMENT) * ALIGNMENT

export const prefixed = (prefix: string, arrays: FlatArrays): FlatArrays =>
  Object.fromEntries(Object.entries(arrays).map(([name, array]) => [`${prefix}.${name}`, array]))

export const below = (prefix: string, arrays: FlatArrays): FlatArrays =>
  Object.fromEntries(
    Object.entries(arrays).flatMap(([name, array]) =>
      name.startsWith(`${prefix}.`) ? [[name.slice(prefix.length + 1), array]] : [],
    ),
  )

export const wordsIn = (arrays: FlatArrays, name: string): Uint32Array => {
  const array = arrays[name]
  if (!(array instanceof Uint32Array)) throw new Error(`no words ${name}`)
  return array
}

export const bytesIn = (arrays: FlatArrays, name: string): Uint8Array => {
  const array = arrays[name]
  if (!(array instanceof Uint8Array)) throw new Error(`no bytes ${name}`)
  return array
}

export const encodeFlat = (arrays: FlatArrays): Uint8Array => {
  const heads = Object.entries(arrays).map(([name, array]) => [name, kindOf(array), array.length])
  const head = Buffer.from(JSON.stringify(heads))
  const start = aligned(4 + head.length)
  const total = Object.values(arrays).reduce((sum, { byteLength }) => sum + aligned(byteLength), start)
  const image = new Uint8Array(total)
  new DataView(image.buffer).setUint32(0, head.length, true)
  image.set(head, 4)
  let at = start
  for (const array of Object.values(arrays)) {
    image.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at)
    at += aligned(array.byteLength)
  }
  return image
}

export const decodeFlat = (bytes: Uint8Array): FlatArrays => {
  // Typed arrays require an offset that is a multiple of their element size.
  const image = bytes.byteOffset % ALIGNMENT === 0 ? bytes : bytes.slice()
  const size = new DataView(image.buffer, image.byteOffset).getUint32(0, true)
  const heads = JSON.parse(new TextDecoder().decode(image.subarray(4, 4 + size))) as [string, Kind, number][]
  let at = image.byteOffset + aligned(4 + size)
  return Object.fromEntries(
    heads.map(([name, kind, length]) => {
      const array = new KINDS[kind](image.buffer as ArrayBuffer, at, length)
      at += aligned(array.byteLength)
      return [name, array]
    }),
  )
}

export const packTexts = (texts: readonly string[]): FlatArrays => {
  const offsets = new Uint32Array(texts.length + 1)
  const pieces = texts.map((text) => Buffer.from(text))
  for (const [at, piece] of pieces.entries()) offsets[at + 1] = offsets[at]! + piece.length
  return { offsets, bytes: new Uint8Array(Buffer.concat(pieces)) }
}

const decoder = new TextDecoder()

export const openTexts = (arrays: FlatArrays): ((at: number) => string) => {
  const offsets = wordsIn(arrays, 'offsets')
  const bytes = bytesIn(arrays, 'bytes')
  return (at) => decoder.decode(bytes.subarray(offsets[at]!, offsets[at + 1]!))
}
