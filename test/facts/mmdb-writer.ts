// Writes small MMDB files for tests. Source: https://maxmind.github.io/MaxMind-DB/.

export type MmdbValue = string | number | boolean | readonly MmdbValue[] | { readonly [key: string]: MmdbValue }

export interface MmdbFile {
  readonly databaseType: string
  readonly ipVersion: 4 | 6
  readonly buildEpoch: number
  /** Networks in CIDR notation with their records. A network within another must come later. */
  readonly networks: readonly (readonly [network: string, record: MmdbValue])[]
}

const STRING = 2
const UINT32 = 6
const MAP = 7
const ARRAY = 11
const BOOLEAN = 14

const control = (type: number, size: number): number[] => {
  const extended = type > 7 ? [type - 7] : []
  const first = type > 7 ? 0 : type << 5
  if (size < 29) return [first | size, ...extended]
  if (size < 285) return [first | 29, ...extended, size - 29]
  return [first | 30, ...extended, (size - 285) >> 8, (size - 285) & 255]
}

const encode = (value: MmdbValue): number[] => {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'utf8')
    return [...control(STRING, bytes.length), ...bytes]
  }
  if (typeof value === 'boolean') return control(BOOLEAN, value ? 1 : 0)
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return [...control(UINT32, 4), ...bytes]
  }
  if (Array.isArray(value)) return [...control(ARRAY, value.length), ...value.flatMap(encode)]
  const entries = Object.entries(value as Readonly<Record<string, MmdbValue>>)
  return [...control(MAP, entries.length), ...entries.flatMap(([key, item]) => [...encode(key), ...encode(item)])]
}

/** The bits of an address; IPv4 in a tree of IPv6 is ::a.b.c.d. */
const bitsOf = (network: string, ipVersion: 4 | 6): number[] => {
  const [address = '', lengthText = ''] = network.split('/')
  const bytes: number[] = []
  if (address.includes(':')) {
    const [head = '', tail] = address.split('::')
    const groups = (text: string): number[] =>
      text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
    const [left, right] = [groups(head), groups(tail ?? '')]
    const all = [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right]
    for (const group of all) bytes.push(group >> 8, group & 255)
  } else {
    if (ipVersion === 6) bytes.push(...new Array<number>(12).fill(0))
    bytes.push(...address.split('.').map(Number))
  }
  const length = Number(lengthText) + (ipVersion === 6 && !address.includes(':') ? 96 : 0)
  return bytes.flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((bit) => (byte >> bit) & 1)).slice(0, length)
}

interface Node {
  readonly children: [Node | number | null, Node | number | null]
}

const newNode = (): Node => ({ children: [null, null] })

/** Builds a tree whose leaves are offsets of records. */
const buildTree = ({ networks, ipVersion }: MmdbFile): { root: Node; data: number[] } => {
  const root = newNode()
  const data: number[] = []
  for (const [network, record] of networks) {
    const offset = data.length
    data.push(...encode(record))
    const bits = bitsOf(network, ipVersion)
    const last = bits.pop()
    let node = root
    for (const bit of bits) {
      const child = node.children[bit as 0 | 1]
      if (child !== null && typeof child === 'object') {
        node = child
        continue
      }
      // The rest of a network that contains this one keeps its record.
      const next: Node = { children: [child, child] }
      node.children[bit as 0 | 1] = next
      node = next
    }
    node.children[last as 0 | 1] = offset
  }
  return { root, data }
}

const SEPARATOR = 16
const MARKER = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')

export const writeMmdb = (file: MmdbFile): Buffer => {
  const { root, data } = buildTree(file)
  const nodes: Node[] = [root]
  const numbers = new Map<Node, number>([[root, 0]])
  for (let at = 0; at < nodes.length; at++) {
    for (const child of nodes[at]?.children ?? []) {
      if (child === null || typeof child !== 'object') continue
      numbers.set(child, nodes.length)
      nodes.push(child)
    }
  }
  const tree = Buffer.alloc(nodes.length * 8)
  for (const [index, { children }] of nodes.entries()) {
    for (const [side, child] of children.entries()) {
      const pointer =
        child === null
          ? nodes.length
          : typeof child === 'number'
            ? nodes.length + SEPARATOR + child
            : (numbers.get(child) ?? 0)
      tree.writeUInt32BE(pointer, index * 8 + side * 4)
    }
  }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: file.buildEpoch,
    database_type: file.databaseType,
    description: { en: 'made by a test' },
    ip_version: file.ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 32,
  })
  return Buffer.concat([tree, Buffer.alloc(SEPARATOR), Buffer.from(data), MARKER, Buffer.from(metadata)])
}
