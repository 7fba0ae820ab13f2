// Encodes and parses log lines (docs/operations.md, "The decision log"). Parsing encodes the record again and compares,
// so other spellings are refused. One JSON.stringify per line takes half the time of a template with quoted fields.
import { isObject } from '../lib/is-object.ts'
import { DecisionLineMalformedError } from './errors.ts'
import type { DecisionRecord, LogRecord, SegmentHeader } from './types.ts'

export const MAX_LINE_BYTES = 1_048_576

export const requireLineLength = (bytes: number): void => {
  if (bytes > MAX_LINE_BYTES) throw new DecisionLineMalformedError('a line exceeds the maximum length')
}

/** Hashes a line without its newline. Returns 64 lowercase hex digits. */
export const hashLine = (line: string | Uint8Array): string => Bun.SHA256.hash(line, 'hex')

/** Encodes a line without a newline. `previousHash` is the hash of the previous line in the segment. */
export const encodeRecord = (record: LogRecord, previousHash: string): string =>
  record.kind === 'withheld'
    ? JSON.stringify({ prev: previousHash, kind: record.kind, uuid: record.uuid, at: record.at })
    : // `prev`, `kind` and `uuid` stay first, because peekUuid finds them by position.
      JSON.stringify({
        prev: previousHash,
        kind: record.kind,
        uuid: record.uuid,
        at: record.at,
        organization: record.organization,
        project: record.project,
        key: record.key,
        request: record.request,
        policy: record.policy,
        revision: record.revision,
        verification_hash: record.verification_hash,
        chain: record.chain,
        from: record.from,
        on_behalf: record.on_behalf,
        to: record.to,
        value: record.value,
        data_sha256: record.data_sha256,
        data_size: record.data_size,
        data: record.data,
        requested: record.requested,
        facts: record.facts,
        shadow: record.shadow,
        compliant: record.compliant,
        rule: record.rule,
        code: record.code,
        message: record.message,
        expiration: record.expiration,
        attesters: record.attesters,
        signatures: record.signatures,
        policy_name: record.policy_name,
      })

export const encodeHeader = (header: SegmentHeader): string =>
  JSON.stringify({
    kind: 'segment',
    version: header.version,
    slot: header.slot,
    number: header.number,
    at: header.at,
    previous_segment: header.previous_segment,
    previous_hash: header.previous_hash,
    previous_length: header.previous_length,
    previous_torn_bytes: header.previous_torn_bytes,
  })

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const HASH = /^[0-9a-f]{64}$/
const DECIMAL = /^(0|[1-9][0-9]*)$/

const TEXT_FIELDS = [
  'organization',
  'project',
  'key',
  'request',
  'policy',
  'revision',
  'verification_hash',
  'chain',
  'from',
  'to',
  'value',
  'data_sha256',
  'policy_name',
] as const

const HEX_BYTES = /^0x(?:[0-9a-fA-F]{2})*$/

const isShadow = (value: unknown): boolean =>
  isObject(value) &&
  typeof value['revision'] === 'string' &&
  (value['compliant'] === null || typeof value['compliant'] === 'boolean') &&
  isTextOrNull(value['rule']) &&
  (value['failure'] === undefined || typeof value['failure'] === 'string')
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
/** Returns whether the value is a time in Unix milliseconds, within the range of Date. */
const isTime = (value: unknown): boolean => isCount(value) && (value as number) <= 8_640_000_000_000_000
const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string'
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string')
const matches = (pattern: RegExp, value: unknown): boolean => typeof value === 'string' && pattern.test(value)

const require = (holds: boolean, field: string): void => {
  if (!holds) throw new DecisionLineMalformedError(`field ${field} is missing or invalid`)
}

/** A compliant decision has signatures, a denial has none. @throws DecisionLineMalformedError with the field's name */
const checkSignatures = (record: DecisionRecord): void => {
  const count = record.attesters.length
  require(record.signatures.length === count, 'signatures')
  if (record.compliant) {
    require(record.kind === 'task' ? count > 0 : count === 1, 'attesters')
    require(record.code === undefined && record.message === undefined, 'code')
  } else {
    require(count === 0, 'attesters')
    require(record.expiration === 0, 'expiration')
  }
}

/** Rejects a record whose line could not be parsed. Cheap: JSON quotes all texts, so their characters need no check. */
export const checkRecordable = (record: LogRecord): void => {
  require(record.uuid.length === 36, 'uuid')
  require(isTime(record.at), 'at')
  if (record.kind === 'withheld') return
  require(isCount(record.data_size), 'data_size')
  require(isCount(record.expiration), 'expiration')
  checkSignatures(record)
}

const parseObject = (line: string): Record<string, unknown> => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw new DecisionLineMalformedError('the line is not valid JSON', cause)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DecisionLineMalformedError('the line is not a JSON object')
  }
  return value as Record<string, unknown>
}

/** `prev` is the contained hash. @throws DecisionLineMalformedError unless encodeRecord would write this line */
export const parseRecordLine = (line: string): { readonly prev: string; readonly record: LogRecord } => {
  const value = parseObject(line)
  require(matches(HASH, value['prev']), 'prev')
  require(matches(UUID, value['uuid']), 'uuid')
  require(isTime(value['at']), 'at')
  const kind = value['kind']
  if (kind !== 'withheld') {
    require(kind === 'attestation' || kind === 'task', 'kind')
    for (const field of TEXT_FIELDS) require(typeof value[field] === 'string', field)
    require(matches(DECIMAL, value['value']), 'value')
    require(matches(HASH, value['data_sha256']), 'data_sha256')
    require(isCount(value['data_size']), 'data_size')
    require(value['on_behalf'] === undefined || typeof value['on_behalf'] === 'string', 'on_behalf')
    require(value['data'] === undefined || matches(HEX_BYTES, value['data']), 'data')
    require(value['requested'] === undefined || isCount(value['requested']), 'requested')
    require(value['facts'] === undefined || isObject(value['facts']), 'facts')
    require(value['shadow'] === undefined || isShadow(value['shadow']), 'shadow')
    require(typeof value['compliant'] === 'boolean', 'compliant')
    require(isTextOrNull(value['rule']), 'rule')
    for (const field of ['code', 'message']) {
      require(value[field] === undefined || typeof value[field] === 'string', field)
    }
    require(isCount(value['expiration']), 'expiration')
    require(isTextList(value['attesters']), 'attesters')
    require(isTextList(value['signatures']), 'signatures')
    checkSignatures(value as unknown as DecisionRecord)
  }
  const prev = value['prev'] as string
  const { prev: _, ...record } = value as unknown as LogRecord & { prev: string }
  if (encodeRecord(record, prev) !== line) throw new DecisionLineMalformedError('the line has unknown keys')
  return { prev, record }
}

/** @throws DecisionLineMalformedError unless encodeHeader would write exactly this line */
export const parseHeaderLine = (line: string): SegmentHeader => {
  const value = parseObject(line)
  require(value['kind'] === 'segment', 'kind')
  require(value['version'] === 1, 'version')
  require(typeof value['slot'] === 'string', 'slot')
  require(isCount(value['number']), 'number')
  require(isTime(value['at']), 'at')
  require(isTextOrNull(value['previous_segment']), 'previous_segment')
  require(value['previous_hash'] === null || matches(HASH, value['previous_hash']), 'previous_hash')
  require((value['previous_segment'] === null) === (value['previous_hash'] === null), 'previous_hash')
  require(isCount(value['previous_length']), 'previous_length')
  require(isCount(value['previous_torn_bytes']), 'previous_torn_bytes')
  const header = value as unknown as SegmentHeader
  if (encodeHeader(header) !== line) throw new DecisionLineMalformedError('the line has unknown keys')
  return header
}

// `{"prev":"`, 64 hex digits, `","kind":"`: the kind starts at byte 83 of every line from encodeRecord.
const KIND_OFFSET = 83
const KINDS = ['attestation', 'task', 'withheld'] as const

const UUID_END = 46

/** Returns null if the line doesn't start like a record. Does not parse the rest. */
export const peekUuid = (line: Buffer): { readonly kind: LogRecord['kind']; readonly uuid: string } | null => {
  for (const kind of KINDS) {
    if (line[KIND_OFFSET] !== kind.charCodeAt(0)) continue
    const start = KIND_OFFSET + kind.length
    const text = line.toString('latin1', KIND_OFFSET, start + UUID_END)
    if (!text.startsWith(`${kind}","uuid":"`)) return null
    return { kind, uuid: text.slice(-36) }
  }
  return null
}

/** Returns the time in Unix milliseconds; null if the line doesn't start like a record. Does not parse the rest. */
export const peekTime = (line: Buffer): number | null => {
  const peeked = peekUuid(line)
  if (peeked === null) return null
  const start = KIND_OFFSET + peeked.kind.length + UUID_END
  const found = /^","at":(\d{1,15})[,}]/.exec(line.toString('latin1', start, start + 24))
  return found === null ? null : Number(found[1])
}
