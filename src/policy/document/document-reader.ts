// Reads a mapping by key. Unknown keys are errors, because a misspelled `deny` must not allow requests.
import { LiteralMalformedError } from '../cel/literals.ts'
import type { MappingNode, SourceNode } from './yaml-tree.ts'

/** `offset` counts UTF-16 code units; `pointer` is a JSON pointer (RFC 6901). */
export type ComplainAt = (offset: number, pointer: string, message: string) => void

/** Syntax of names for constants, reads, lists and screeners. */
export const NAME = /^[a-z][a-z0-9_]{0,63}$/
export const NAME_RULE = 'must consist of a-z, 0-9 and "_", begin with a letter and have at most 64 characters'

/** Escapes a key as in RFC 6901, section 3. */
const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

export interface DocumentContext {
  readonly source: string
  readonly complain: ComplainAt
}

/** Returns the source text of a scalar, because YAML rounds `0x…` and reads 1.0 as 1; null for other nodes. */
export const verbatimText = ({ source }: DocumentContext, node: SourceNode | null): string | null => {
  if (node?.kind !== 'scalar') return null
  if (typeof node.value === 'string') return node.value
  const isWritten = typeof node.value === 'number' || typeof node.value === 'boolean' || typeof node.value === 'bigint'
  return isWritten ? source.slice(node.start, node.end) : null
}

export interface MappingReader {
  readonly path: string
  readonly keys: readonly string[]
  has(key: string): boolean
  node(key: string): SourceNode | null
  complainOf(key: string, message: string): null
  refuseUnknownKeys(known: readonly string[]): void
  /** Returns null after reporting a mistake. The key must be present. */
  text(key: string, maxLength: number): string | null
  matching(key: string, maxLength: number, allowed: RegExp, rule: string): string | null
  /** Parses the source text of a scalar. A LiteralMalformedError is reported as a mistake. */
  parsed<Value>(key: string, parse: (text: string) => Value): Value | null
  bool(key: string): boolean | null
  mapping(key: string, what: string): MappingReader | null
  sequence(key: string): readonly SourceNode[] | null
}

export const createMappingReader = (
  context: DocumentContext,
  mapping: MappingNode,
  path: string,
  what: string,
): MappingReader => {
  const { complain } = context
  const entries = new Map(mapping.entries.toReversed().map((entry) => [entry.key, entry]))
  const find = (key: string) => entries.get(key)
  const complainOf = (key: string, message: string): null => {
    const entry = find(key)
    const pointer = entry ? `${path}/${escapePointer(key)}` : path
    complain(entry?.value?.start ?? entry?.keyStart ?? mapping.start, pointer, message)
    return null
  }
  const text = (key: string, maxLength: number): string | null => {
    const node = find(key)?.value
    if (node?.kind !== 'scalar' || typeof node.value !== 'string') {
      return complainOf(key, node?.kind === 'scalar' ? `${key} must be text: put it in quotes` : `${key} must be text`)
    }
    if (node.value.trim() === '') return complainOf(key, `${key} is empty`)
    if (node.value.length > maxLength) return complainOf(key, `${key} can have at most ${maxLength} characters`)
    return node.value
  }
  return {
    path,
    keys: mapping.entries.map(({ key }) => key),
    has: (key) => find(key) !== undefined,
    node: (key) => find(key)?.value ?? null,
    complainOf,
    refuseUnknownKeys: (known) => {
      for (const { key, keyStart } of mapping.entries) {
        if (known.includes(key)) continue
        const pointer = `${path}/${escapePointer(key)}`
        complain(keyStart, pointer, `"${key.slice(0, 64)}" is not a key of ${what}; valid keys: ${known.join(', ')}`)
      }
    },
    text,
    matching: (key, maxLength, allowed, rule) => {
      const value = text(key, maxLength)
      return value === null || allowed.test(value) ? value : complainOf(key, `${key} ${rule}`)
    },
    parsed: (key, parse) => {
      const written = verbatimText(context, find(key)?.value ?? null)
      if (written === null) return complainOf(key, `${key} must be text or a number`)
      try {
        return parse(written)
      } catch (error) {
        if (!(error instanceof LiteralMalformedError)) throw error
        return complainOf(key, error.message)
      }
    },
    bool: (key) => {
      const node = find(key)?.value
      if (node?.kind === 'scalar' && typeof node.value === 'boolean') return node.value
      return complainOf(key, `${key} must be true or false`)
    },
    mapping: (key, inner) => {
      const node = find(key)?.value
      if (node?.kind === 'mapping') return createMappingReader(context, node, `${path}/${escapePointer(key)}`, inner)
      return complainOf(key, `${key} must be a mapping`)
    },
    sequence: (key) => {
      const node = find(key)?.value
      return node?.kind === 'sequence' ? node.items : complainOf(key, `${key} must be a list`)
    },
  }
}

export const plainValue = (node: SourceNode | null): unknown => {
  if (node === null) return null
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'sequence') return node.items.map(plainValue)
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, plainValue(value)]))
}
