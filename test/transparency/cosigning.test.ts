// A log asks witnesses for cosignatures: what they cosign is what others are shown, and a witness that is away, slow or lying is
// named, holds up no head, and makes the cosignatures late.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runWitness } from '../../src/modules/transparency/commands/witness/witness.ts'
import { listenForHeads } from '../../src/modules/transparency/commands/witness/witness-listen.ts'
import { openWitnessState, type WitnessState } from '../../src/modules/transparency/commands/witness/witness-state.ts'
import type { WitnessSetting } from '../../src/modules/transparency/settings.ts'
import { encodeSubmission } from '../../src/modules/transparency/tree/add-checkpoint.ts'
import { openCheckpoint, signCheckpoint } from '../../src/modules/transparency/tree/checkpoint.ts'
import { cosign, openCosignature } from '../../src/modules/transparency/tree/cosignature.ts'
import { encodeVerifierKey, parseVerifierKey, verifierKeyOf } from '../../src/modules/transparency/tree/note.ts'
import { proveConsistency } from '../../src/modules/transparency/tree/prove.ts'
import { type CosigningOptions, createCosigning } from '../../src/modules/transparency/worker/cosigning.ts'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'
import { recordOutput } from '../cli/recorded-output.ts'
import {
  attestation,
  openTestSegment,
  range,
  removeTemporaryDirectories,
  temporaryDirectory,
} from '../decision-log/fixtures.ts'
import { exchange } from '../server/exchange.ts'
import { until } from '../support/until.ts'
import { createTestMaker, placesIn, TEST_SIGNER } from './tree-fixtures.ts'

const NOW = 1_800_000_000
const LOOPBACK = { hostname: '127.0.0.1', port: 0 }
let root = ''
let made: Awaited<ReturnType<typeof createTestMaker>>
let lines = 0
let nowMs = 0
const closers: (() => Promise<void> | void)[] = []

beforeEach(async () => {
  root = temporaryDirectory()
  made = await createTestMaker(root, { ship: null })
  lines = 0
  nowMs = 0
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await made.tree.close()
  removeTemporaryDirectories()
})

const grow = async (count: number) => {
  const writer = openTestSegment(placesIn(root).directory, { slot: 'w00', maxBytes: 100_000 })
  writer.append(range(lines, lines + count).map((number) => attestation(number)))
  writer.close()
  lines += count
  const head = await made.maker.pass(true)
  if (head === null) throw new Error('no head')
  return head
}

/** A witness as the command makes it, in this process. */
const startWitness = (
  name: string,
  unixSeconds = () => NOW,
): WitnessSetting & { readonly state: WitnessState; readonly folder: string } => {
  const folder = join(root, name.replaceAll('/', '-'))
  const state = openWitnessState(folder, name, unixSeconds)
  const silent = { stdout: () => undefined, stderr: () => undefined, monotonicMs: () => nowMs }
  const { url, stop } = listenForHeads(LOOPBACK, TEST_SIGNER.key, state, silent)
  closers.push(stop, state.close)
  return { key: state.key, url, state, folder }
}

/** A witness whose answers a test chooses. */
const LIAR = (() => {
  const { publicKey, sign } = createEd25519Signer(Buffer.alloc(32, 9))
  return { key: verifierKeyOf('liar.example', 'cosignature', publicKey), sign }
})()
const startLiar = (answer: (checkpoint: string) => Response | Promise<Response>): WitnessSetting => {
  const server = Bun.serve({
    ...LOOPBACK,
    fetch: async (request) => {
      const text = await request.text()
      return answer(text.slice(text.indexOf('\n\n') + 2))
    },
  })
  closers.push(() => server.stop(true))
  return { key: LIAR.key, url: `http://127.0.0.1:${server.port}` }
}

const cosigningWith = (witnesses: readonly WitnessSetting[], changes: Partial<CosigningOptions> = {}) =>
  createCosigning({
    witnesses,
    required: 1,
    withinMs: 60_000,
    tree: made.tree,
    monotonicMs: () => nowMs,
    unixSeconds: () => NOW,
    ...changes,
  })

const published = async (): Promise<string> => (await made.tree.reader.published()) ?? ''
const sizeOf = (checkpoint: string): number => openCheckpoint(checkpoint, TEST_SIGNER.key).size

test('heads that grow are cosigned by all witnesses, and others are shown the cosigned one', async () => {
  const witnesses = [startWitness('one.example'), startWitness('two.example')]
  const cosigning = cosigningWith(witnesses, { required: 2 })
  for (const count of [1, 5, 300, 700]) {
    const head = await grow(count)
    cosigning.offer(head)
    await cosigning.settled()
    expect(sizeOf(await published())).toBe(head.size)
    for (const { key } of witnesses) expect(openCosignature(await published(), key)).toBe(NOW)
    expect(cosigning.state()).toMatchObject({ isLate: false, ageMs: 0 })
    nowMs += 20_000
  }
  // Another start of the service does not know what the witnesses have cosigned, and is told.
  const again = cosigningWith(witnesses, { required: 2 })
  const head = await grow(3)
  again.offer(head)
  await again.settled()
  expect(again.state().witnesses.map(({ problem }) => problem)).toEqual([null, null])
  expect(sizeOf(await published())).toBe(head.size)
  // Nor that they have cosigned this very head.
  const unchanged = cosigningWith(witnesses, { required: 2 })
  unchanged.offer(head)
  await unchanged.settled()
  expect(unchanged.state().witnesses.map(({ problem }) => problem)).toEqual([null, null])
})

test('rounds begin a moment apart, and one at a time', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let asked = 0
  const witness = startLiar(async (checkpoint) => {
    asked += 1
    await promise
    return new Response(cosign(checkpoint, NOW, LIAR))
  })
  const cosigning = cosigningWith([witness])
  const head = await grow(1)
  cosigning.offer(head)
  await until(() => asked === 1)
  nowMs += 20_000
  cosigning.offer(head)
  resolve()
  await cosigning.settled()
  cosigning.offer(head)
  await cosigning.settled()
  nowMs += 9_999
  cosigning.offer(head)
  await cosigning.settled()
  expect(asked).toBe(2)
})

describe('a witness', () => {
  const problemWith = async (answer: Parameters<typeof startLiar>[0], changes: Partial<CosigningOptions> = {}) => {
    const cosigning = cosigningWith([startLiar(answer)], { requestMs: 300, ...changes })
    cosigning.offer(await grow(3))
    await cosigning.settled()
    return cosigning.state().witnesses[0]?.problem ?? ''
  }

  test.each([
    [
      'that lies about the head',
      (note: string) => new Response(cosign(note.replace('\n4\n', '\n5\n'), NOW, LIAR)),
      'does not match',
    ],
    [
      'that answers with nothing of its own',
      (note: string) => new Response(note.slice(note.indexOf('\n\n') + 2)),
      'not cosigned by',
    ],
    [
      'that answers with an old cosignature',
      (note: string) => new Response(cosign(note, NOW - 61, LIAR)),
      'off by -61 s',
    ],
    ['that answers nonsense', () => new Response('nonsense'), 'not a signed note'],
    ['without an end', () => new Response(new Uint8Array(70_000)), 'is too large'],
    ['that fails', () => new Response('', { status: 500 }), 'it returned 500'],
    ['that leads elsewhere', () => Response.redirect('http://127.0.0.1:1/'), 'cannot be reached'],
    [
      'that knows more lines than there are',
      () => new Response('9\n', { status: 409 }),
      'cosigned 9 lines, but this log has 4',
    ],
    ['that knows another history', () => new Response('2\n', { status: 409 }), 'another history'],
    ['that does not answer', () => new Promise<Response>(() => undefined), 'cannot be reached (TimeoutError)'],
  ])('%s is named, and nothing of it is kept', async (_name, answer, problem) => {
    const head = (await made.tree.reader.head())?.size ?? 0
    expect(head).toBe(0)
    expect(await problemWith(answer)).toContain(problem)
    // The newest signed head, without a cosignature, as nothing was published before.
    expect(await published()).toBe((await made.tree.reader.head())?.checkpoint ?? '')
  })

  test('that is away makes cosignatures late; then heads are shown with those that there are', async () => {
    const one = startWitness('one.example')
    const away: WitnessSetting = { key: LIAR.key, url: 'http://127.0.0.1:1' }
    const cosigning = cosigningWith([one, away], { required: 2 })
    const offer = async (count: number) => {
      const head = await grow(count)
      cosigning.offer(head)
      await cosigning.settled()
      return head
    }
    await made.tree.writer.publish((await grow(1)).checkpoint)
    await offer(5)
    expect(cosigning.state()).toMatchObject({ isLate: false, witnesses: [{ problem: null }, { name: 'liar.example' }] })
    expect(sizeOf(await published())).toBe(2)
    nowMs = 60_001
    const late = await offer(5)
    expect(cosigning.state()).toMatchObject({ isLate: true, ageMs: 60_001 })
    expect(sizeOf(await published())).toBe(late.size)
    expect(openCosignature(await published(), one.key)).toBe(NOW)
    // None is required: nothing is late.
    expect(cosigningWith([away], { required: 0 }).state().isLate).toBe(false)
  })
})

test('others are never shown an older head after a newer one', async () => {
  const old = await grow(2)
  const newer = await grow(3)
  await made.tree.writer.publish(newer.checkpoint)
  await made.tree.writer.publish(old.checkpoint)
  expect(await published()).toBe(newer.checkpoint)
  const newest = await grow(3)
  expect(await published()).toBe(newer.checkpoint)
  await made.tree.writer.publish(null)
  expect(await published()).toBe(newest.checkpoint)
})

describe('the witness that is asked', () => {
  const ask = (url: string, body: string, path = '/add-checkpoint'): Promise<Response> =>
    fetch(url + path, { method: 'POST', body })
  const submission = async (oldSize: number, size: number, checkpoint: string): Promise<string> =>
    encodeSubmission({ oldSize, path: await proveConsistency(made.tree.reader.readTiles, oldSize, size), checkpoint })

  test('answers as its document says', async () => {
    const { url, key, folder } = startWitness('one.example')
    const first = await grow(5)
    const second = await grow(300)
    const text = async (response: Promise<Response>) => [(await response).status, await (await response).text()]
    expect((await ask(url, await submission(0, first.size, first.checkpoint), '/other')).status).toBe(404)
    expect((await fetch(`${url}/add-checkpoint`)).status).toBe(405)
    expect((await ask(url, 'nonsense')).status).toBe(400)
    expect((await ask(url, await submission(5, second.size, `${first.checkpoint}x`))).status).toBe(400)
    const stranger = { ...TEST_SIGNER, key: { ...TEST_SIGNER.key, name: 'stranger.example' } }
    expect((await ask(url, await submission(0, 6, signCheckpoint(first, stranger)))).status).toBe(404)
    const forged = { ...TEST_SIGNER, sign: () => Buffer.alloc(64) }
    expect((await ask(url, await submission(0, 6, signCheckpoint(first, forged)))).status).toBe(403)
    expect((await ask(url, `old 7\n\n${first.checkpoint}`)).status).toBe(400)
    expect(existsSync(join(folder, 'cosigned'))).toBe(false)

    const [status, line] = await text(ask(url, await submission(0, first.size, first.checkpoint)))
    expect(status).toBe(200)
    expect(openCosignature(first.checkpoint + line, key)).toBe(NOW)
    expect(readFileSync(join(folder, 'cosigned'), 'utf8')).toBe(first.checkpoint + line)

    const behind = await ask(url, await submission(0, second.size, second.checkpoint))
    expect([behind.status, behind.headers.get('content-type'), await behind.text()]).toEqual([
      409,
      'text/x.tlog.size',
      '6\n',
    ])
    const wrong = encodeSubmission({ oldSize: 6, path: [Buffer.alloc(32)], checkpoint: second.checkpoint })
    expect((await ask(url, wrong)).status).toBe(422)
    expect((await ask(url, await submission(6, second.size, second.checkpoint))).status).toBe(200)
    // Rolled back.
    expect(await text(ask(url, await submission(0, first.size, first.checkpoint)))).toEqual([409, `${second.size}\n`])
    expect(readdirSync(folder).some((name) => name.startsWith('evidence-'))).toBe(false)
    // Forked.
    const fork = signCheckpoint({ size: second.size, root: Buffer.alloc(32, 1) }, TEST_SIGNER)
    for (const oldSize of [0, second.size]) {
      expect(await text(ask(url, encodeSubmission({ oldSize, path: [], checkpoint: fork })))).toEqual([
        409,
        `${second.size}\n`,
      ])
    }
    const [evidence = ''] = readdirSync(folder).filter((name) => name.startsWith('evidence-'))
    const kept = readFileSync(join(folder, evidence), 'utf8')
    expect([kept.includes(fork), kept.includes(second.checkpoint)]).toEqual([true, true])
  })

  test('cosigns one of two heads that are sent at once on the same old one', async () => {
    const { url } = startWitness('one.example')
    const first = await grow(5)
    await ask(url, await submission(0, first.size, first.checkpoint))
    const second = await grow(5)
    const third = await grow(5)
    const answers = await Promise.all(
      [second, third].map(
        async ({ size, checkpoint }) => (await ask(url, await submission(6, size, checkpoint))).status,
      ),
    )
    expect(answers.sort()).toEqual([200, 409])
  })

  test('stores no lines of strangers, which could make the head unreadable', async () => {
    const { url, folder } = startWitness('one.example')
    const { size, checkpoint } = await grow(5)
    const invented = Array.from({ length: 99 }, (_, index) => `\u2014 x${index} ${btoa(`invented ${index}`)}\n`)
    expect((await ask(url, await submission(0, size, checkpoint + invented.join('')))).status).toBe(200)
    expect((await ask(url, await submission(size, size, checkpoint))).status).toBe(200)
    expect(openCheckpoint(readFileSync(join(folder, 'cosigned'), 'utf8'), TEST_SIGNER.key).size).toBe(size)
  })

  test('cosigns a repeated head again only after five seconds', async () => {
    let seconds = NOW
    const { url, key } = startWitness('one.example', () => seconds)
    const head = await grow(5)
    const lineOf = async (oldSize: number, { size, checkpoint }: typeof head, more = ''): Promise<string> =>
      (await ask(url, await submission(oldSize, size, checkpoint + more))).text()
    const first = await lineOf(0, head)
    seconds += 5
    nowMs = 4_999
    expect(await lineOf(head.size, head)).toBe(first)
    expect(await lineOf(head.size, head, `\u2014 stranger ${btoa('invented')}\n`)).toBe(first)
    nowMs = 5_000
    expect(openCosignature(head.checkpoint + (await lineOf(head.size, head)), key)).toBe(NOW + 5)
    const next = await grow(1)
    expect(openCosignature(next.checkpoint + (await lineOf(head.size, next)), key)).toBe(NOW + 5)
  })

  test('is a command, which ends when it is told to', async () => {
    const stopping = new AbortController()
    const { output, printed } = recordOutput()
    const place = ['--listen', ':0', '--state', join(root, 'w')]
    const words = [...place, '--log-key', encodeVerifierKey(TEST_SIGNER.key), '--name', 'w']
    const ended = runWitness(words, { output, unixSeconds: () => NOW, signal: stopping.signal })
    await until(() => printed.stderr.includes('listening at'))
    const [, url = ''] = /listening at (\S+)/.exec(printed.stderr) ?? []
    const [, key = ''] = /witness key: (\S+)/.exec(printed.stderr) ?? []
    const cosigning = cosigningWith([{ key: parseVerifierKey(key), url }])
    cosigning.offer(await grow(5))
    await cosigning.settled()
    expect(openCosignature(await published(), parseVerifierKey(key))).toBe(NOW)
    stopping.abort()
    expect(await ended).toBe(0)
    expect(printed.stdout + printed.stderr).toContain('cosigned 6 lines')
  })
})

test('a witness closes a connection that pipelines requests', async () => {
  const { url } = startWitness('w.example/pipelined')
  const head = 'GET / HTTP/1.1\r\nHost: x\r\n'
  const pipelined = `${head}\r\n${head}Connection: close\r\n\r\n`
  expect(await exchange(Number(new URL(url).port), pipelined)).toBe('')
})
