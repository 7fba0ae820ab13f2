// Caches standings as bytes in a few large blocks, for lookups in about a microsecond without garbage. When all blocks
// are full, the oldest is overwritten. Invariant: a result was read after the last change to its wallet and to each of
// its persons. Changes set marks that wallets and persons share by hash; a collision only causes a reread.
import { KEY_WORDS_MAX, readAddressWords } from '../../domain/address-key.ts'
import { API_KEY_ENVIRONMENTS, type ApiKeyEnvironment } from '../../domain/api-key.ts'
import type { Level } from '../../domain/level.ts'
import { createRecordIndex } from './record-index.ts'
import type { KnownStanding, StandingCaller, StandingsByType, StandingType } from './standing.ts'
import { RECORD_BYTES_MAX, readStandingAt, writeStandings } from './standing-record.ts'

export interface StandingRecord {
  readonly caller: StandingCaller
  readonly address: string
  /** Chain as in `find`; absent if the standing is the same on every chain. */
  readonly chain?: string | null
  readonly level: Level
  readonly standings: StandingsByType
  /** A change to any of these persons invalidates the record. */
  readonly personIds: Iterable<string>
  /** A change to any of these wallets invalidates the record. */
  readonly otherAddresses: Iterable<string>
  /** Value of `now()` before the record's data was first read. */
  readonly readAt: number
}

export interface StandingMemoryOptions {
  /** Maximum bytes of the records; the index takes up to 10% more. Allocated on demand. */
  readonly maxBytes: number
  readonly blockBytes?: number
}

const BLOCK_BYTES = 1_048_576
const WORD_BYTES = 4
const MARKS = 2 ** 19

// Layout of a record in words: hash, length, caller, read time (two), level and widths, marks, key, standings.
const HASH = 0
const LENGTH = 1
const CALLER = 2
const READ_LOW = 3
const READ_HIGH = 4
const SHAPE = 5
const HEADER_WORDS = 6
const DEPENDENCIES_MAX = 512
/**
 * Maximum number of chain names, because callers choose the names. Exceeds the number of chains on which contract
 * wallets are proven.
 */
const CHAINS_MAX = 256
const TWO_32 = 2 ** 32
/** 2^32 divided by the golden ratio spreads consecutive numbers far apart. */
const SPREAD = 0x9e3779b1

interface Caller {
  /** Number for standings that are the same on every chain. */
  readonly number: number
  /** Value of `now` when the numbers were assigned; older records have other numbers. */
  readonly since: number
  /** Numbers for standings on one chain, by name; the name is empty if there is no chain. */
  readonly byChain: Map<string, number>
}

interface Block {
  readonly words: Uint32Array
  readonly bytes: Buffer
}

const KEY_BYTES_MAX = KEY_WORDS_MAX * WORD_BYTES

export const createStandingMemory = (options: StandingMemoryOptions) => {
  const { maxBytes, blockBytes = BLOCK_BYTES } = options
  const blockWords = blockBytes / WORD_BYTES
  const blocksMax = Math.max(2, Math.floor(maxBytes / blockBytes))
  const index = createRecordIndex()
  const marks = new Float64Array(MARKS)
  const callers = new Map<string, Caller>()
  let numbered = 0
  const key = new Uint32Array(KEY_WORDS_MAX)
  const scratch = new Uint8Array(Math.min(RECORD_BYTES_MAX, blockBytes / 2))
  let blocks: Block[] = []
  let current = 0
  let used = 0
  let changes = 0
  /** Reads from before this time are dropped, including reads in progress. */
  let clearedAt = 0
  let keyWords = 0
  let keyHash = 0

  // Random numbers per byte (tabulation hashing), so that callers can't choose colliding addresses.
  const numbers = crypto.getRandomValues(new Uint32Array(KEY_BYTES_MAX * 256))
  const seed = numbers[0]!

  const readKey = (environment: ApiKeyEnvironment, address: string): boolean => {
    keyWords = readAddressWords(address, key)
    keyHash = environment === 'live' ? 0 : seed
    for (let word = 0, at = 0; word < keyWords; word++) {
      for (let rest = key[word]!, end = at + 1_024; at < end; at += 256, rest >>>= 8) {
        keyHash ^= numbers[at + (rest & 255)]!
      }
    }
    keyHash >>>= 0
    return keyWords > 0
  }
  const walletMark = (): number => keyHash % MARKS
  const personMark = (personId: string): number => Bun.hash.xxHash32(personId, seed) % MARKS
  const hashFor = (caller: number): number => (keyHash ^ Math.imul(caller + 1, SPREAD)) >>> 0
  const callerText = ({ organizationId, environment }: StandingCaller): string => `${environment} ${organizationId}`

  const isOfKey = ({ words }: Block, start: number, caller: number): boolean => {
    const shape = words[start + SHAPE]!
    if (words[start + CALLER] !== caller || (shape >>> 8) % 16 !== keyWords) return false
    const keyStart = start + HEADER_WORDS + (shape >>> 16)
    for (let word = 0; word < keyWords; word++) if (words[keyStart + word] !== key[word]) return false
    return true
  }

  const locate = (hash: number, caller: number): number =>
    index.find(hash, (place) => isOfKey(blocks[Math.floor(place / blockWords)]!, place % blockWords, caller))

  const isCurrent = ({ words }: Block, start: number): boolean => {
    const readAt = words[start + READ_HIGH]! * TWO_32 + words[start + READ_LOW]!
    if (marks[walletMark()]! > readAt) return false
    for (let dependency = words[start + SHAPE]! >>> 16; dependency > 0; dependency--) {
      if (marks[words[start + HEADER_WORDS + dependency - 1]!]! > readAt) return false
    }
    return true
  }

  const forgetBlock = (number: number): void => {
    const { words } = blocks[number]!
    for (let start = 0, length = words[LENGTH]!; length > 0; start += length, length = words[start + LENGTH] ?? 0) {
      index.remove(words[start + HASH]!, number * blockWords + start)
    }
    words.fill(0)
  }

  const reserve = (length: number): number => {
    if (blocks.length === 0 || used + length > blockWords) {
      current = blocks.length < blocksMax ? blocks.length : (current + 1) % blocksMax
      used = 0
      if (current < blocks.length) forgetBlock(current)
      else {
        const words = new Uint32Array(blockWords)
        blocks.push({ words, bytes: Buffer.from(words.buffer) })
      }
    }
    const place = current * blockWords + used
    used += length
    return place
  }

  const renumber = (text: string, since: number): Caller => {
    const entry = { number: numbered, since, byChain: new Map<string, number>() }
    numbered += 1
    callers.set(text, entry)
    return entry
  }

  const numberOn = ({ number, byChain }: Caller, chain: string | null | undefined): number => {
    if (chain === undefined) return number
    const known = byChain.get(chain ?? '')
    if (known !== undefined) return known
    byChain.set(chain ?? '', numbered)
    numbered += 1
    return numbered - 1
  }

  const readRecord = (caller: number, level: Level, type: StandingType): KnownStanding | undefined => {
    const place = locate(hashFor(caller), caller)
    if (place === -1) return undefined
    const block = blocks[Math.floor(place / blockWords)]!
    const start = place % blockWords
    const shape = block.words[start + SHAPE]!
    if (shape % 16 !== level || !isCurrent(block, start)) return undefined
    const first = start + HEADER_WORDS + (shape >>> 16) + keyWords
    const end = start + block.words[start + LENGTH]!
    return readStandingAt(block.bytes, first * WORD_BYTES, end * WORD_BYTES, type)
  }

  const clear = (): void => {
    changes += 1
    clearedAt = changes
    index.clear()
    callers.clear()
    blocks = []
  }

  return {
    now: (): number => changes,
    /** Returns undefined if nothing is cached, the record is outdated, or it is for another level. */
    find: (
      caller: StandingCaller,
      address: string,
      level: Level,
      type: StandingType,
      chain: string | null,
    ): KnownStanding | undefined => {
      const known = callers.get(callerText(caller))
      if (known === undefined || !readKey(caller.environment, address)) return undefined
      const onAll = readRecord(known.number, level, type)
      if (onAll !== undefined) return onAll
      const onChain = known.byChain.get(chain ?? '')
      return onChain === undefined ? undefined : readRecord(onChain, level, type)
    },
    keep: ({ caller, address, chain, level, standings, personIds, otherAddresses, readAt }: StandingRecord) => {
      const size = writeStandings(standings, scratch)
      const dependencies = [...personIds].map((personId) => personMark(personId))
      for (const other of otherAddresses) if (readKey(caller.environment, other)) dependencies.push(walletMark())
      if (size === 0 || dependencies.length > DEPENDENCIES_MAX || readAt < clearedAt) return
      if (!readKey(caller.environment, address)) return
      const text = callerText(caller)
      const known = callers.get(text) ?? renumber(text, 0)
      if (readAt < known.since) return
      if (chain !== undefined && known.byChain.size >= CHAINS_MAX && !known.byChain.has(chain ?? '')) return
      const number = numberOn(known, chain)
      const hash = hashFor(number)
      const headWords = HEADER_WORDS + dependencies.length + keyWords
      const length = headWords + Math.ceil(size / WORD_BYTES)
      const place = reserve(length)
      const { words, bytes } = blocks[current]!
      const start = place % blockWords
      words[start + HASH] = hash
      words[start + LENGTH] = length
      words[start + CALLER] = number
      words[start + READ_LOW] = readAt % TWO_32
      words[start + READ_HIGH] = Math.floor(readAt / TWO_32)
      words[start + SHAPE] = level | (keyWords << 8) | (dependencies.length << 16)
      words.set(dependencies, start + HEADER_WORDS)
      words.set(keyWords === key.length ? key : key.subarray(0, keyWords), start + HEADER_WORDS + dependencies.length)
      bytes.set(scratch.subarray(0, size), (start + headWords) * WORD_BYTES)
      // Look up the older record only after making room, which may have overwritten it.
      const older = locate(hash, number)
      if (older === -1) index.add(hash, place)
      else index.move(hash, older, place)
    },
    changed: (environment: ApiKeyEnvironment, addresses: readonly string[], personId: string | null) => {
      changes += 1
      for (const address of addresses) if (readKey(environment, address)) marks[walletMark()] = changes
      if (personId !== null) marks[personMark(personId)] = changes
    },
    forget: (organizationId: string) => {
      changes += 1
      for (const environment of API_KEY_ENVIRONMENTS) renumber(callerText({ organizationId, environment }), changes)
    },
    clear,
  }
}
