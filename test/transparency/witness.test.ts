// A witness of a published log: it cosigns extensions, and refuses rollbacks and forks with both heads as evidence.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { publishTree } from '../../src/modules/transparency/commands/decisions-publish.ts'
import { runWitness } from '../../src/modules/transparency/commands/witness/witness.ts'
import { openWitnessState } from '../../src/modules/transparency/commands/witness/witness-state.ts'
import { openCheckpoint, signCheckpoint } from '../../src/modules/transparency/tree/checkpoint.ts'
import { cosign, openCosignature } from '../../src/modules/transparency/tree/cosignature.ts'
import { encodeVerifierKey, parseVerifierKey } from '../../src/modules/transparency/tree/note.ts'
import { createFolderTarget } from '../../src/object-store/ship-folder.ts'
import { recordOutput } from '../cli/recorded-output.ts'
import { attestations, removeTemporaryDirectories, temporaryDirectory, writeSegment } from '../decision-log/fixtures.ts'
import { createTestMaker, placesIn, TEST_SIGNER } from './tree-fixtures.ts'

const LOG_KEY = encodeVerifierKey(TEST_SIGNER.key)
let root = ''
let published = ''
let state = ''
let server: ReturnType<typeof Bun.serve>

beforeEach(() => {
  root = temporaryDirectory()
  published = join(root, 'published')
  state = join(root, 'witness')
  mkdirSync(published)
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const file = join(published, new URL(request.url).pathname)
      return existsSync(file) ? new Response(readFileSync(file)) : new Response('', { status: 404 })
    },
  })
})
afterEach(async () => {
  await server.stop(true)
  removeTemporaryDirectories()
})

const grow = async (first: number, count: number, at = root): Promise<number> => {
  writeSegment(placesIn(at).directory, attestations(first, first + count), { maxBytes: 100_000 })
  const { maker, tree } = await createTestMaker(at, { ship: null })
  await maker.pass(true)
  try {
    return await publishTree({ tree: tree.reader, key: TEST_SIGNER.key }, createFolderTarget(published))
  } finally {
    await tree.close()
  }
}

const run = async (words: readonly string[], seconds = 1_800_000_000) => {
  const { output, printed } = recordOutput()
  const { signal } = new AbortController()
  const code = await runWitness(words, { output, unixSeconds: () => seconds, signal })
  return { code, out: printed.stdout + printed.stderr }
}
const witness = (place = `http://127.0.0.1:${server.port}`, seconds?: number) =>
  run(['--log', place, '--log-key', LOG_KEY, '--state', state, '--name', 'witness.example/1', '--once'], seconds)

/** Replaces the published log. */
const replacePublished = (copy: string): void => {
  rmSync(published, { recursive: true })
  cpSync(copy, published, { recursive: true })
}
const evidence = (): string[] => readdirSync(state).filter((name) => name.startsWith('evidence-'))
/** The published tree, without shipping. */
const openTree = async () => (await createTestMaker(root, { ship: null })).tree

const witnessKeyOf = (out: string) => parseVerifierKey(/witness key: (.+)\n/.exec(out)?.[1] ?? '')
const cosigned = (): string => readFileSync(join(state, 'cosigned'), 'utf8')

test('heads that extend the last one are cosigned with the time, from a URL and from a folder', async () => {
  let first = 0
  for (const [index, count] of [1, 3, 252, 600].entries()) {
    const size = await grow(first, count)
    first += count
    const { code, out } = await witness(index % 2 === 0 ? undefined : `dir:${published}`, 1_800_000_000 + index)
    expect([code, out]).toEqual([0, expect.stringContaining(`cosigned ${size} lines\n`)])
    expect(openCheckpoint(cosigned(), TEST_SIGNER.key).size).toBe(size)
    expect(openCosignature(cosigned(), witnessKeyOf(out))).toBe(1_800_000_000 + index)
  }
  // An unchanged head is cosigned with the new time.
  const { code, out } = await witness(undefined, 1_900_000_000)
  expect(code).toBe(0)
  expect(openCosignature(cosigned(), witnessKeyOf(out))).toBe(1_900_000_000)
  const moved = cosigned().replace(/\n\d+\n/, '\n1\n')
  expect(() => openCosignature(moved, witnessKeyOf(out))).toThrow('does not match')
})

test('the error about an unavailable log contains its URL', async () => {
  await server.stop(true)
  const url = `http://127.0.0.1:${server.port}`
  const { code, out } = await witness(url)
  expect([code, out]).toEqual([1, expect.stringContaining(`${url}/checkpoint cannot be reached (ECONNREFUSED)\n`)])
})

test('a log that was rolled back is refused each time, with both heads as evidence', async () => {
  await grow(0, 300)
  cpSync(published, `${published}.old`, { recursive: true })
  await grow(300, 5)
  expect((await witness()).code).toBe(0)
  const before = cosigned()
  replacePublished(`${published}.old`)
  for (let attempt = 0; attempt < 2; attempt++) {
    const { code, out } = await witness()
    expect([code, out]).toEqual([1, expect.stringMatching(/refused: the log was rolled back: from \d+ lines to \d+/)])
    const text = readFileSync(join(state, evidence()[0] ?? ''), 'utf8')
    expect(text).toContain(before)
    expect(text).toContain(readFileSync(join(published, 'checkpoint'), 'utf8'))
    expect(cosigned()).toBe(before)
  }
})

test('a fork is refused, whether it is a longer history, a history of the same size, or tiles that do not match', async () => {
  await grow(0, 300)
  expect((await witness()).code).toBe(0)
  const before = cosigned()
  const honest = join(root, 'honest')
  cpSync(published, honest, { recursive: true })

  const other = temporaryDirectory()
  rmSync(published, { recursive: true })
  mkdirSync(published)
  await grow(1_000, 400, other)
  expect((await witness()).out).toContain('does not extend the head of')

  const { size } = openCheckpoint(before, TEST_SIGNER.key)
  writeFileSync(join(published, 'checkpoint'), signCheckpoint({ size, root: Buffer.alloc(32, 1) }, TEST_SIGNER))
  expect((await witness()).out).toContain(`the log has two different histories with ${size} lines`)
  expect(evidence()).toHaveLength(2)

  replacePublished(honest)
  await grow(300, 300)
  const leaves = join(published, 'tile', '0')
  renameSync(leaves, `${leaves}.moved`)
  // Missing tiles are not evidence of a fork.
  expect(await witness()).toMatchObject({ code: 1, out: expect.stringContaining('are not available yet') })
  expect([evidence().length, cosigned()]).toEqual([2, before])
  renameSync(`${leaves}.moved`, leaves)
  for (const name of readdirSync(leaves, { recursive: true })) {
    const file = join(leaves, String(name))
    if (statSync(file).isFile()) writeFileSync(file, Buffer.alloc(256 * 32, 3))
  }
  expect((await witness()).out).toContain('or its tiles are wrong')
  expect(cosigned()).toBe(before)

  writeFileSync(join(published, 'checkpoint'), 'nonsense')
  expect(await witness()).toMatchObject({
    code: 1,
    out: expect.stringContaining('refused: the text is not a signed note'),
  })
  rmSync(join(published, 'checkpoint'))
  expect(await witness()).toMatchObject({ code: 1, out: expect.stringContaining('no checkpoint at this location') })
})

test('invalid options return 2 without creating state, and the log key can be in a file', async () => {
  await grow(0, 5)
  const valid = { log: `dir:${published}`, 'log-key': LOG_KEY, state, name: 'witness.example/1' }
  const codeFor = async (changes: Record<string, string>): Promise<number> => {
    const options = Object.entries({ ...valid, ...changes }).flatMap(([name, value]) => [`--${name}`, value])
    return (await run([...options, '--once'])).code
  }
  const invalid: [string, string][] = [
    ['name', 'with space'],
    ['log-key', 'none'],
    ['log-key', 'a+b'],
    ['log', 'ftp://x'],
    ['interval', '0'],
    ['listen', ':0'],
  ]
  for (const option of invalid) {
    expect(await codeFor(Object.fromEntries([option]))).toBe(2)
    expect(existsSync(state)).toBe(false)
  }
  const file = join(root, 'log-key')
  writeFileSync(file, `${LOG_KEY}\n`)
  expect(await codeFor({ 'log-key': file })).toBe(0)
})

test('two witnesses cannot use one folder', async () => {
  await grow(0, 5)
  expect((await witness()).code).toBe(0)
  const held = openWitnessState(state, 'witness.example/1', () => 0)
  expect(await witness()).toMatchObject({ code: 1, out: expect.stringContaining('another witness uses') })
  held.close()
  expect((await witness()).code).toBe(0)
})

test('a witness does not start if its stored head is not a head of the log', async () => {
  await grow(0, 5)
  expect((await witness()).code).toBe(0)
  writeFileSync(join(state, 'cosigned'), 'nonsense')
  expect(await witness()).toMatchObject({
    code: 1,
    out: expect.stringMatching(/“cosigned” in --state is not a head of this log/),
  })
  expect(cosigned()).toBe('nonsense')
})

test('publishing does not overwrite another history', async () => {
  await grow(0, 300)
  const other = temporaryDirectory()
  await expect(grow(1_000, 400, other)).rejects.toThrow('belong to another tree')
})

test('publishing does not overwrite a newer head that another run published in the meantime', async () => {
  await grow(0, 300)
  const tree = await openTree()
  const folder = createFolderTarget(published)
  let newer = 0
  const interrupted = {
    ...folder,
    put: async (name: string, content: Blob) => {
      if (newer === 0) newer = await grow(300, 5)
      await folder.put(name, content)
    },
  }
  try {
    expect(await publishTree({ tree: tree.reader, key: TEST_SIGNER.key }, interrupted)).toBe(newer)
  } finally {
    await tree.close()
  }
  expect(openCheckpoint(readFileSync(join(published, 'checkpoint'), 'utf8'), TEST_SIGNER.key).size).toBe(newer)
})

test('a tile that is too short for the head is not published', async () => {
  await grow(0, 10)
  const tree = await openTree()
  const reader = { ...tree.reader, readTiles: async () => [new Uint8Array(32)] }
  const empty = join(root, 'empty')
  try {
    const publish = publishTree({ tree: reader, key: TEST_SIGNER.key }, createFolderTarget(empty))
    await expect(publish).rejects.toThrow('tile 0/0')
  } finally {
    await tree.close()
  }
  expect(existsSync(join(empty, 'checkpoint'))).toBe(false)
})

test('an endless response is canceled', async () => {
  let sent = 0
  const endless = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            sent += 65_536
            // Limits the memory of a faulty witness.
            if (sent > 268_435_456) controller.close()
            else controller.enqueue(new Uint8Array(65_536))
          },
        }),
      ),
  })
  try {
    const { code, out } = await witness(`http://127.0.0.1:${endless.port}`)
    expect([code, out]).toEqual([1, expect.stringContaining('/checkpoint is too large')])
    expect(sent).toBeLessThan(134_217_728)
  } finally {
    await endless.stop(true)
  }
})

test('a cosignature covers the header, the time and the note (C2SP tlog-cosignature)', () => {
  const signed: Buffer[] = []
  const key = parseVerifierKey(LOG_KEY)
  const note = signCheckpoint({ size: 5, root: Buffer.alloc(32, 2) }, TEST_SIGNER)
  const sign = (message: Uint8Array): Uint8Array => {
    signed.push(Buffer.from(message))
    return Buffer.alloc(64)
  }
  const line = cosign(note, 1_679_315_147, { key: { ...key, type: 'cosignature' }, sign })
  expect(signed[0]?.toString()).toBe(`cosignature/v1\ntime 1679315147\n${note.slice(0, note.indexOf('\n\n') + 1)}`)
  const bytes = Buffer.from(line.trim().split(' ').at(-1) ?? '', 'base64')
  expect([bytes.length, Number(bytes.readBigUInt64BE(4))]).toEqual([4 + 8 + 64, 1_679_315_147])
})
