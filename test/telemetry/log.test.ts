// Log lines: format, redaction, limits, and writing to standard error.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { mintApiKey } from '../../src/domain/api-key.ts'
import { DependencyUnavailableError } from '../../src/domain/errors.ts'
import { createLineWriter, createLogger, type LineStream, type LoggerOptions } from '../../src/telemetry/log.ts'
import { loggable } from '../../src/telemetry/loggable.ts'
import { REDACTED } from '../../src/telemetry/redact.ts'

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

const setUp = (options: LoggerOptions = {}) => {
  const lines: string[] = []
  const log = createLogger({ write: (line) => lines.push(line), now: () => NOW_MS, ...options })
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> }
}

describe('a line', () => {
  test('is one JSON object with time, level, message and fields', () => {
    const { log, lines } = setUp()
    log.info('request answered', { request_id: 'r-1', status: 200, duration_ms: 1.5, cached: true, rule: null })
    expect(lines).toEqual([
      '{"time":"2026-01-02T03:04:05.678Z","level":"info","message":"request answered","request_id":"r-1","status":200,"duration_ms":1.5,"cached":true,"rule":null}\n',
    ])
  })

  test.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
  ] as const)('is written if its level is at least %s', (level, written) => {
    const { log, lines } = setUp({ level })
    for (const each of ['debug', 'info', 'warn', 'error'] as const) log[each]('x')
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual([...written])
  })

  test('contains the fields of its logger, unless its own fields have the same names', () => {
    const { log, last } = setUp()
    const child = log.with({ request_id: 'r-1', slot: 1 }).with({ slot: 2 })
    child.info('x', { slot: 3 })
    expect(last()).toMatchObject({ request_id: 'r-1', slot: 3 })
    log.info('y')
    expect(last()).not.toHaveProperty('slot')
  })

  test('cannot have fields that replace time, level or message, or that add a line', () => {
    const { log, lines, last } = setUp()
    log.info('real\nline', { level: 'error', message: 'forged', time: 0, 'a"b\n': '\n{"level":"error"}\u2028' })
    expect(lines).toHaveLength(1)
    expect(lines[0]!.indexOf('\n')).toBe(lines[0]!.length - 1)
    const renamed = { level_: 'error', message_: 'forged', time_: 0 }
    expect(last()).toMatchObject({ level: 'info', message: 'real\nline', ...renamed })
  })

  test('has unique field names in snake case', () => {
    const { log, lines } = setUp()
    log
      .with({ requestId: 'r-1' })
      .info('x', { builtAtMs: 1, v2Key: 2, aB: 3, a_b: 4, 'x-Y': 5, Kept: 6, nested: { aB: 1 } })
    expect(lines[0]).toEndWith(
      ',"request_id":"r-1","built_at_ms":1,"v2_key":2,"a_b_":3,"a_b":4,"x-Y":5,"Kept":6,"nested":{"aB":1}}\n',
    )
    log.info('x', { apiKey: 'mine', clientSecret: 'mine' })
    expect(lines[1]).toEndWith(`,"api_key":"${REDACTED}","client_secret":"${REDACTED}"}\n`)
  })

  test('omits undefined fields', () => {
    const { log, last } = setUp()
    log.info('x', { rule: undefined })
    expect(last()).not.toHaveProperty('rule')
  })
})

describe('secrets', () => {
  const { text: canary } = mintApiKey('attestation', 'live')
  const hexKey = createHash('sha256').update('countersign test key 2').digest('hex')

  test('are redacted in messages, errors, names, values and nested objects', () => {
    const { log, lines } = setUp()
    const cause = new Error(`refused ${canary}`)
    const error = Object.assign(new TypeError(`bad ${canary} ${hexKey}`, { cause }), { code: canary })
    error.name = canary
    log.error(`message ${canary}`, {
      error,
      text: canary,
      [canary]: 1,
      nested: { deep: [{ deeper: canary }], [canary]: hexKey },
      apiKey: 'plain-secret',
      list: [hexKey, canary],
      map: new Map([[canary, canary]]),
      set: new Set([canary]),
      bytes: Buffer.from(hexKey, 'hex'),
      numbers: [...Buffer.from(hexKey, 'hex')],
      url: new URL(`https://x/?key=${canary}`),
      headers: { 'x-api-key': 'plain-secret', authorization: 'plain-secret', accept: '*/*' },
    })
    log.with({ key: canary }).warn('child')
    const all = lines.join('')
    expect(lines).toHaveLength(2)
    const bytes = [...Buffer.from(hexKey, 'hex')].slice(0, 4).join(',')
    for (const secret of [canary, canary.slice(21), hexKey, 'plain-secret', bytes]) expect(all).not.toContain(secret)
    expect(all).toContain(REDACTED)
    expect(all).toContain('*/*')
  })

  test('are redacted in any value', () => {
    const { log, lines } = setUp()
    const secrets = [canary, hexKey, `0x${hexKey}`, `a ${canary} b`, new Error(canary)]
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(...secrets, 1n, undefined, Symbol('x')),
        fc.string(),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(fc.oneof(fc.string(), fc.constant(canary)), tie('any'), { maxKeys: 4 }),
      ),
    })).any
    fc.assert(
      fc.property(value, (any) => {
        lines.length = 0
        log.info('x', { any })
        expect(lines).toHaveLength(1)
        expect(lines[0]).not.toContain(canary.slice(9))
        expect(lines[0]).not.toContain(hexKey)
        JSON.parse(lines[0]!)
      }),
      { numRuns: 500 },
    )
  })
})

describe('an error', () => {
  test('has its class, code and frames, but not its message', () => {
    const { log, last } = setUp()
    const cause = Object.assign(new Error('SELECT secret FROM keys'), { code: 'SQLITE_BUSY' })
    log.error('x', { error: new DependencyUnavailableError('the store is down', { cause }) })
    expect(last()['error']).toEqual({
      class: 'DependencyUnavailableError',
      code: 'DEPENDENCY_UNAVAILABLE',
      detail: 'the store is down',
      frames: expect.arrayContaining([expect.stringContaining('log.test.ts')]),
      cause: { class: 'Error', code: 'SQLITE_BUSY', frames: expect.any(Array) },
    })
    expect(JSON.stringify(last())).not.toContain('SELECT')
  })

  test('about a file has its path and a description, without frames', () => {
    const { log, last } = setUp()
    const cause = Object.assign(new Error('text'), { errno: 13, code: 'SQLITE_FULL', path: '/data/countersign.db' })
    log.error('x', { error: new DependencyUnavailableError('the store is down', { cause }) })
    expect(last()['error']).toEqual({
      class: 'DependencyUnavailableError',
      code: 'DEPENDENCY_UNAVAILABLE',
      detail: 'the store is down',
      problem: 'the disk is full',
      cause: { class: 'Error', code: 'SQLITE_FULL', path: '/data/countersign.db', problem: 'the disk is full' },
    })
    log.error('x', { error: Object.assign(new Error('text'), { code: 'ENOENT', path: '/geo.mmdb' }) })
    expect(last()['error']).toEqual({ class: 'Error', code: 'ENOENT', path: '/geo.mmdb' })
  })

  test('with a message that looks like a stack omits it', () => {
    const { log, lines } = setUp()
    log.error('x', { error: new Error('first\n    at input (canary:1:1)\n    at more (canary:2:2)') })
    expect(lines[0]).not.toContain('canary')
  })

  test('has the type of a cause that is not an error, and a limited number of circular causes', () => {
    expect(loggable(new Error('x', { cause: 'canary' }))).toMatchObject({ cause: 'string' })
    const ring = new Error('x')
    ring.cause = ring
    expect(JSON.stringify(loggable(ring)).length).toBeLessThan(20_000)
  })
})

describe('loggable', () => {
  test('limits depth, items, fields and text', () => {
    let deep: unknown = 'canary'
    for (let i = 0; i < 50; i++) deep = { deep }
    expect(JSON.stringify(loggable(deep))).not.toContain('canary')
    const many = Array.from({ length: 1_000 }, (_, i) => [`f${i}`, i] as const)
    expect((loggable(many) as unknown[]).length).toBe(65)
    expect(Object.keys(loggable(Object.fromEntries(many)) as object)).toHaveLength(64)
    expect((loggable('x y '.repeat(5_000)) as string).length).toBe(4_097)
    expect(loggable('x'.repeat(100_000))).toBe('[100000 characters]')
  })

  test.each<[expected: string | null, value: unknown]>([
    ['NaN', Number.NaN],
    ['1180591620717411303424', 2n ** 70n],
    ['1970-01-01T00:00:00.000Z', new Date(0)],
    [null, new Date(Number.NaN)],
    ['[function]', () => 1],
    ['[symbol]', Symbol('x')],
    [null, undefined],
    ['[3 bytes]', new Uint8Array(3)],
    ['[1 entries]', new Map([[1, 2]])],
  ])('represents a value as %j', (expected, value) => {
    expect(loggable({ value, few: [1, 2, 3] })).toEqual({ value: expected, few: [1, 2, 3] } as never)
  })

  test('keeps a field named __proto__ without changing prototypes', () => {
    const logged = loggable(JSON.parse('{"__proto__":{"polluted":1}}')) as Record<string, unknown>
    expect(Object.hasOwn(logged, '__proto__')).toBe(true)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('the logger does not throw', () => {
  const fail = (): never => {
    throw new Error('no')
  }
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  const hostile: Record<string, unknown> = {
    'a circular object': circular,
    'a getter that throws': Object.defineProperty({}, 'x', { get: fail, enumerable: true }),
    'a proxy that throws': new Proxy({}, { ownKeys: fail }),
    'toJSON that throws': { toJSON: fail },
    'an error whose name throws': Object.defineProperty(new Error('x'), 'name', { get: fail }),
    'an object without a prototype': Object.create(null),
  }

  test.each(Object.entries(hostile))('for %s', (_name, value) => {
    const { log, lines, last } = setUp()
    log.error('x', { value })
    expect(lines).toHaveLength(1)
    expect(last()).toHaveProperty('value')
  })

  test('for fields that throw, or a writer that throws or rejects lines, and counts the dropped lines', () => {
    const broken = setUp({ write: fail })
    broken.log.info('x')
    broken.log.with({ a: 1 }).info('y')
    expect(broken.log.dropped()).toBe(2)
    const refusing = setUp({ write: () => false })
    refusing.log.info('x')
    expect(refusing.log.dropped()).toBe(1)
    const { log, lines } = setUp()
    log.info('x', hostile['a proxy that throws'] as Record<string, unknown>)
    expect(log.dropped()).toBe(1)
    expect(lines).toEqual([])
  })
})

describe('standard error', () => {
  /** A stream whose reader can stall. */
  const createStream = () => {
    const listeners: Record<'error' | 'drain', () => void> = { error: () => undefined, drain: () => undefined }
    const written: string[] = []
    const stream: LineStream & { flowing: boolean } = {
      flowing: true,
      write: (line) => {
        written.push(line)
        return stream.flowing
      },
      on: (event, listener) => {
        listeners[event] = listener
      },
    }
    return { stream, listeners, written }
  }

  test('is not written to after a broken pipe, and the process continues', () => {
    const { stream, listeners, written } = createStream()
    const write = createLineWriter(stream)
    expect(write('a')).toBe(true)
    listeners.error()
    expect(write('b')).toBe(false)
    expect(written).toEqual(['a'])
  })

  test('is buffered up to one megabyte while its reader stalls', () => {
    const { stream, listeners, written } = createStream()
    const write = createLineWriter(stream)
    stream.flowing = false
    const line = 'x'.repeat(1_000)
    for (let i = 0; i < 5_000; i++) write(line)
    expect(written.length).toBeLessThan(1_060)
    expect(write(line)).toBe(false)
    stream.flowing = true
    listeners.drain()
    expect(write(line)).toBe(true)
  })
})
