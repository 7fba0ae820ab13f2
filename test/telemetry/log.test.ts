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

  test('is written from its level on', () => {
    const { log, lines } = setUp({ level: 'warn' })
    log.debug('a')
    log.info('b')
    log.warn('c')
    log.error('d')
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['c', 'd'])
    const everything = setUp({ level: 'debug' })
    everything.log.debug('a')
    expect(everything.last()).toMatchObject({ level: 'debug', message: 'a' })
  })

  test('carries the fields of its logger, its own first', () => {
    const { log, last } = setUp()
    const child = log.with({ request_id: 'r-1', slot: 1 }).with({ slot: 2 })
    child.info('x', { slot: 3 })
    expect(last()).toMatchObject({ request_id: 'r-1', slot: 3 })
    log.info('y')
    expect(last()).not.toHaveProperty('slot')
  })

  test('no field passes for time, level or message, and none adds a line', () => {
    const { log, lines, last } = setUp()
    log.info('real\nline', { level: 'error', message: 'forged', time: 0, 'a"b\n': '\n{"level":"error"}\u2028' })
    expect(lines).toHaveLength(1)
    expect(lines[0]!.indexOf('\n')).toBe(lines[0]!.length - 1)
    expect(last()).toMatchObject({
      level: 'info',
      message: 'real\nline',
      level_: 'error',
      message_: 'forged',
      time_: 0,
    })
  })

  test('names its fields in snake case, and no two alike', () => {
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

  test('leaves out what is undefined', () => {
    const { log, last } = setUp()
    log.info('x', { rule: undefined })
    expect(last()).not.toHaveProperty('rule')
  })
})

describe('secrets', () => {
  const { text: canary } = mintApiKey('attestation', 'live')
  const hexKey = createHash('sha256').update('countersign test key 2').digest('hex')

  test('are nowhere in a line, however they get into it', () => {
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
    expect(all).not.toContain(canary)
    expect(all).not.toContain(canary.slice(21))
    expect(all).not.toContain(hexKey)
    expect(all).not.toContain('plain-secret')
    expect(all).not.toContain([...Buffer.from(hexKey, 'hex')].slice(0, 4).join(','))
    expect(all).toContain(REDACTED)
    expect(all).toContain('*/*')
  })

  test('any value at all', () => {
    const { log, lines } = setUp()
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(
          canary,
          hexKey,
          `0x${hexKey}`,
          `a ${canary} b`,
          new Error(canary),
          1n,
          undefined,
          Symbol('x'),
        ),
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
  test('is its class, code and place, never its message', () => {
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

  test('about a file has its path and a description instead of frames', () => {
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

  test('a message that looks like a stack is still not printed', () => {
    const { log, lines } = setUp()
    log.error('x', { error: new Error('first\n    at input (canary:1:1)\n    at more (canary:2:2)') })
    expect(lines[0]).not.toContain('canary')
  })

  test('a cause that is no error is only typed, and a ring of causes ends', () => {
    expect(loggable(new Error('x', { cause: 'canary' }))).toMatchObject({ cause: 'string' })
    const ring = new Error('x')
    ring.cause = ring
    expect(JSON.stringify(loggable(ring)).length).toBeLessThan(20_000)
  })
})

describe('size and shape', () => {
  test('depth, items, fields and text are capped', () => {
    let deep: unknown = 'canary'
    for (let i = 0; i < 50; i++) deep = { deep }
    expect(JSON.stringify(loggable(deep))).not.toContain('canary')
    expect((loggable(Array.from({ length: 1_000 }, () => 'x')) as unknown[]).length).toBe(65)
    expect(
      Object.keys(loggable(Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}`, i]))) as object),
    ).toHaveLength(64)
    expect((loggable('x y '.repeat(5_000)) as string).length).toBe(4_097)
    expect(loggable('x'.repeat(100_000))).toBe('[100000 characters]')
  })

  test('everything else has a form', () => {
    expect(
      loggable({
        n: Number.NaN,
        b: 2n ** 70n,
        d: new Date(0),
        bad: new Date(Number.NaN),
        f: () => 1,
        s: Symbol('x'),
        u: undefined,
        bytes: new Uint8Array(3),
        map: new Map([[1, 2]]),
        few: [1, 2, 3],
      }),
    ).toEqual({
      n: 'NaN',
      b: '1180591620717411303424',
      d: '1970-01-01T00:00:00.000Z',
      bad: null,
      f: '[function]',
      s: '[symbol]',
      u: null,
      bytes: '[3 bytes]',
      map: '[1 entries]',
      few: [1, 2, 3],
    })
  })

  test('__proto__ is a name like any other', () => {
    const logged = loggable(JSON.parse('{"__proto__":{"polluted":1}}')) as Record<string, unknown>
    expect(Object.hasOwn(logged, '__proto__')).toBe(true)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('never throws', () => {
  const hostile: Record<string, unknown> = {
    'a ring': (() => {
      const ring: Record<string, unknown> = {}
      ring['self'] = ring
      return ring
    })(),
    'a getter that throws': {
      get x() {
        throw new Error('no')
      },
    },
    'a proxy that throws': new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no')
        },
      },
    ),
    'toJSON that throws': {
      toJSON: () => {
        throw new Error('no')
      },
    },
    'an error whose name throws': Object.defineProperty(new Error('x'), 'name', {
      get: () => {
        throw new Error('no')
      },
    }),
    'an object without a prototype': Object.create(null),
  }

  test.each(Object.entries(hostile))('%s', (_name, value) => {
    const { log, lines, last } = setUp()
    log.error('x', { value })
    expect(lines).toHaveLength(1)
    expect(last()).toHaveProperty('value')
  })

  test('fields that throw, and a writer that throws or refuses, are counted', () => {
    const broken = setUp({
      write: () => {
        throw new Error('EPIPE')
      },
    })
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
  /** A stream whose reader takes nothing until the test says so. */
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

  test('a broken pipe ends the writing, not the process', () => {
    const { stream, listeners, written } = createStream()
    const write = createLineWriter(stream)
    expect(write('a')).toBe(true)
    listeners.error()
    expect(write('b')).toBe(false)
    expect(written).toEqual(['a'])
  })

  test('a reader that stalls fills no more than a megabyte, and is written to again once it reads', () => {
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
