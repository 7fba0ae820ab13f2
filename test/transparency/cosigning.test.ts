// Cosignatures of witnesses: cosigned heads are published, and an unavailable, slow or malicious witness delays no head.
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
import { attestations, removeTemporaryDirectories, temporaryDirectory, writeSegment } from '../decision-log/fixtures.ts'
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
  writeSegment(placesIn(root).directory, attestations(lines, lines + count), { maxBytes: 100_000 })
  lines += count
  const head = await made.maker.pass(true)
  if (head === null) throw new Error('no head')
  return head
}

/** The witness of the command, in this process. */
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

/** A witness whose responses the test determines. */
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

type Cosigning = ReturnType<typeof cosigningWith>
const offer = async (cosigning: Cosigning, head: Awaited<ReturnType<typeof grow>>): Promise<void> => {
  cosigning.offer(head)
  await cosigning.settled()
}
const problemsOf = (cosigning: Cosigning) => cosigning.state().witnesses.map(({ problem }) => problem)

const published = async (): Promise<string> => (await made.tree.reader.published()) ?? ''
const sizeOf = (checkpoint: string): number => openCheckpoint(checkpoint, TEST_SIGNER.key).size

test('all witnesses cosign growing heads, and the cosigned head is published', async () => {
  const witnesses = [startWitness('one.example'), startWitness('two.example')]
  const cosigning = cosigningWith(witnesses, { required: 2 })
  for (const count of [1, 5, 300, 700]) {
    const head = await grow(count)
    await offer(cosigning, head)
    expect(sizeOf(await published())).toBe(head.size)
    for (const { key } of witnesses) expect(openCosignature(await published(), key)).toBe(NOW)
    expect(cosigning.state()).toMatchObject({ isLate: false, ageMs: 0 })
    nowMs += 20_000
  }
  // After a restart, the service does not know which heads the witnesses have cosigned: a newer one, and this one.
  const head = await grow(3)
  for (let start = 0; start < 2; start++) {
    const again = cosigningWith(witnesses, { required: 2 })
    await offer(again, head)
    expect(problemsOf(again)).toEqual([null, null])
    expect(sizeOf(await published())).toBe(head.size)
  }
})

test('rounds run one at a time, with a minimum interval', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let requests = 0
  const witness = startLiar(async (checkpoint) => {
    requests += 1
    await promise
    return new Response(cosign(checkpoint, NOW, LIAR))
  })
  const cosigning = cosigningWith([witness])
  const head = await grow(1)
  cosigning.offer(head)
  await until(() => requests === 1)
  nowMs += 20_000
  cosigning.offer(head)
  resolve()
  await cosigning.settled()
  await offer(cosigning, head)
  nowMs += 9_999
  await offer(cosigning, head)
  expect(requests).toBe(2)
})

describe('a witness', () => {
  test.each<[string, Parameters<typeof startLiar>[0], string]>([
    [
      'that cosigns another head',
      (note) => new Response(cosign(note.replace('\n4\n', '\n5\n'), NOW, LIAR)),
      'does not match',
    ],
    ['that returns no cosignature', (note) => new Response(note.slice(note.indexOf('\n\n') + 2)), 'not cosigned by'],
    ['that returns an old cosignature', (note) => new Response(cosign(note, NOW - 61, LIAR)), 'off by -61 s'],
    ['that returns invalid text', () => new Response('nonsense'), 'not a signed note'],
    ['that returns too many bytes', () => new Response(new Uint8Array(70_000)), 'is too large'],
    ['that fails', () => new Response('', { status: 500 }), 'it returned 500'],
    ['that redirects', () => Response.redirect('http://127.0.0.1:1/'), 'cannot be reached'],
    [
      'that has cosigned more lines than the log has',
      () => new Response('9\n', { status: 409 }),
      'cosigned 9 lines, but this log has 4',
    ],
    ['that has cosigned another history', () => new Response('2\n', { status: 409 }), 'another history'],
    ['that does not answer', () => new Promise<Response>(() => undefined), 'cannot be reached (TimeoutError)'],
  ])('%s is reported, and the head is published without its answer', async (_name, answer, problem) => {
    const cosigning = cosigningWith([startLiar(answer)], { requestMs: 300 })
    const head = await grow(3)
    await offer(cosigning, head)
    expect(problemsOf(cosigning)).toEqual([expect.stringContaining(problem)])
    expect(await published()).toBe(head.checkpoint)
  })

  test('that is unavailable makes cosignatures late; then heads are published with the others', async () => {
    const one = startWitness('one.example')
    const unavailable: WitnessSetting = { key: LIAR.key, url: 'http://127.0.0.1:1' }
    const cosigning = cosigningWith([one, unavailable], { required: 2 })
    await made.tree.writer.publish((await grow(1)).checkpoint)
    await offer(cosigning, await grow(5))
    expect(cosigning.state()).toMatchObject({ isLate: false, witnesses: [{ problem: null }, { name: 'liar.example' }] })
    expect(sizeOf(await published())).toBe(2)
    nowMs = 60_001
    const late = await grow(5)
    await offer(cosigning, late)
    expect(cosigning.state()).toMatchObject({ isLate: true, ageMs: 60_001 })
    expect(sizeOf(await published())).toBe(late.size)
    expect(openCosignature(await published(), one.key)).toBe(NOW)
    // Without required cosignatures, none is late.
    expect(cosigningWith([unavailable], { required: 0 }).state().isLate).toBe(false)
  })
})

test('an older head is not published after a newer one', async () => {
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

describe('a listening witness', () => {
  const submit = (url: string, body: string, path = '/add-checkpoint'): Promise<Response> =>
    fetch(url + path, { method: 'POST', body })
  const submission = async (oldSize: number, size: number, checkpoint: string): Promise<string> =>
    encodeSubmission({ oldSize, path: await proveConsistency(made.tree.reader.readTiles, oldSize, size), checkpoint })

  test('responds according to tlog-witness, and keeps evidence of a fork', async () => {
    const { url, key, folder } = startWitness('one.example')
    const first = await grow(5)
    const second = await grow(300)
    const statusOf = async (body: string, path?: string) => (await submit(url, body, path)).status
    const answerTo = async (body: string) => {
      const response = await submit(url, body)
      return [response.status, await response.text()] as const
    }
    expect(await statusOf(await submission(0, first.size, first.checkpoint), '/other')).toBe(404)
    expect((await fetch(`${url}/add-checkpoint`)).status).toBe(405)
    expect(await statusOf('nonsense')).toBe(400)
    expect(await statusOf(await submission(5, second.size, `${first.checkpoint}x`))).toBe(400)
    const stranger = { ...TEST_SIGNER, key: { ...TEST_SIGNER.key, name: 'stranger.example' } }
    expect(await statusOf(await submission(0, 6, signCheckpoint(first, stranger)))).toBe(404)
    const forged = { ...TEST_SIGNER, sign: () => Buffer.alloc(64) }
    expect(await statusOf(await submission(0, 6, signCheckpoint(first, forged)))).toBe(403)
    expect(await statusOf(`old 7\n\n${first.checkpoint}`)).toBe(400)
    expect(existsSync(join(folder, 'cosigned'))).toBe(false)

    const [status, line] = await answerTo(await submission(0, first.size, first.checkpoint))
    expect(status).toBe(200)
    expect(openCosignature(first.checkpoint + line, key)).toBe(NOW)
    expect(readFileSync(join(folder, 'cosigned'), 'utf8')).toBe(first.checkpoint + line)

    const behind = await submit(url, await submission(0, second.size, second.checkpoint))
    expect(behind.headers.get('content-type')).toBe('text/x.tlog.size')
    expect([behind.status, await behind.text()]).toEqual([409, '6\n'])
    const wrong = encodeSubmission({ oldSize: 6, path: [Buffer.alloc(32)], checkpoint: second.checkpoint })
    expect(await statusOf(wrong)).toBe(422)
    expect(await statusOf(await submission(6, second.size, second.checkpoint))).toBe(200)
    // A rollback.
    expect(await answerTo(await submission(0, first.size, first.checkpoint))).toEqual([409, `${second.size}\n`])
    expect(readdirSync(folder).some((name) => name.startsWith('evidence-'))).toBe(false)
    // A fork.
    const fork = signCheckpoint({ size: second.size, root: Buffer.alloc(32, 1) }, TEST_SIGNER)
    for (const oldSize of [0, second.size]) {
      const answer = await answerTo(encodeSubmission({ oldSize, path: [], checkpoint: fork }))
      expect(answer).toEqual([409, `${second.size}\n`])
    }
    const [evidence = ''] = readdirSync(folder).filter((name) => name.startsWith('evidence-'))
    const kept = readFileSync(join(folder, evidence), 'utf8')
    expect([kept.includes(fork), kept.includes(second.checkpoint)]).toEqual([true, true])
  })

  test('cosigns only one of two simultaneous heads after the same old head', async () => {
    const { url } = startWitness('one.example')
    const first = await grow(5)
    await submit(url, await submission(0, first.size, first.checkpoint))
    const heads = [await grow(5), await grow(5)]
    const bodies = await Promise.all(heads.map(({ size, checkpoint }) => submission(6, size, checkpoint)))
    const answers = await Promise.all(bodies.map((body) => submit(url, body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('does not store signature lines of unknown signers, which could make the head unreadable', async () => {
    const { url, folder } = startWitness('one.example')
    const { size, checkpoint } = await grow(5)
    const invented = Array.from({ length: 99 }, (_, index) => `\u2014 x${index} ${btoa(`invented ${index}`)}\n`)
    expect((await submit(url, await submission(0, size, checkpoint + invented.join('')))).status).toBe(200)
    expect((await submit(url, await submission(size, size, checkpoint))).status).toBe(200)
    expect(openCheckpoint(readFileSync(join(folder, 'cosigned'), 'utf8'), TEST_SIGNER.key).size).toBe(size)
  })

  test('cosigns a repeated head again after five seconds', async () => {
    let seconds = NOW
    const { url, key } = startWitness('one.example', () => seconds)
    const head = await grow(5)
    const lineOf = async (oldSize: number, { size, checkpoint }: typeof head, more = ''): Promise<string> =>
      (await submit(url, await submission(oldSize, size, checkpoint + more))).text()
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

  test('closes a connection that pipelines requests', async () => {
    const { url } = startWitness('w.example/pipelined')
    const head = 'GET / HTTP/1.1\r\nHost: x\r\n'
    const pipelined = `${head}\r\n${head}Connection: close\r\n\r\n`
    expect(await exchange(Number(new URL(url).port), pipelined)).toBe('')
  })

  test('runs as a command until it is stopped', async () => {
    const stopping = new AbortController()
    const { output, printed } = recordOutput()
    const place = ['--listen', ':0', '--state', join(root, 'w')]
    const words = [...place, '--log-key', encodeVerifierKey(TEST_SIGNER.key), '--name', 'w']
    const ended = runWitness(words, { output, unixSeconds: () => NOW, signal: stopping.signal })
    await until(() => printed.stderr.includes('listening at'))
    const [, url = ''] = /listening at (\S+)/.exec(printed.stderr) ?? []
    const [, key = ''] = /witness key: (\S+)/.exec(printed.stderr) ?? []
    await offer(cosigningWith([{ key: parseVerifierKey(key), url }]), await grow(5))
    expect(openCosignature(await published(), parseVerifierKey(key))).toBe(NOW)
    stopping.abort()
    expect(await ended).toBe(0)
    expect(printed.stdout + printed.stderr).toContain('cosigned 6 lines')
  })
})
