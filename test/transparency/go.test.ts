// Compatibility with golang.org/x/mod/sumdb, from Debian's packages golang-go and golang-golang-x-mod-dev.
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { signCheckpoint } from '../../src/modules/transparency/tree/checkpoint.ts'
import { entryOf, leafHashesOf, saltsOf } from '../../src/modules/transparency/tree/hash.ts'
import { encodeVerifierKey, verifierKeyOf } from '../../src/modules/transparency/tree/note.ts'
import { proveConsistency, proveInclusion, readRoot } from '../../src/modules/transparency/tree/prove.ts'
import { tilePath } from '../../src/modules/transparency/tree/tiles.ts'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'
import { createGrownTree } from './grown-tree.ts'

const GO_PATH = '/usr/share/gocode'
const hasGo = Bun.which('go') !== null && existsSync(join(GO_PATH, 'src/golang.org/x/mod/sumdb/tlog'))
const why = hasGo ? '' : ' (skipped: golang-go or golang-golang-x-mod-dev is not installed)'

const SIZE = 66_000
const OLD_SIZE = 300
const INDEX = 65_537
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

test.skipIf(!hasGo)(`Go verifies the checkpoint, the tiles and the proofs${why}`, 240_000, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-go-'))
  try {
    const lines = Buffer.concat(
      Array.from({ length: SIZE }, (_, index) => Bun.SHA256.hash(`line ${index}`) as Uint8Array),
    )
    const saltKey = Buffer.alloc(32, 3)
    const tree = createGrownTree()
    tree.append([leafHashesOf(lines, saltKey)])
    for (const [name, hashes] of tree.tiles) {
      const [level = 0, number = 0] = name.split('/').map(Number)
      const path = join(folder, tilePath({ level, number }, hashes.length / 32))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, hashes)
    }
    const signer = createEd25519Signer(Buffer.alloc(32, 7))
    const key = verifierKeyOf('countersign.example/log', 'ed25519', signer.publicKey)
    const line = lines.subarray(INDEX * 32, (INDEX + 1) * 32)
    const input = {
      Folder: folder,
      Key: encodeVerifierKey(key),
      Checkpoint: signCheckpoint({ size: SIZE, root: tree.root() }, { key, sign: signer.sign }),
      Index: INDEX,
      Entry: base64(entryOf(saltsOf(line, saltKey), line)),
      Inclusion: (await proveInclusion(tree.readTiles, INDEX, SIZE)).map(base64),
      OldSize: OLD_SIZE,
      OldRoot: base64(await readRoot(tree.readTiles, OLD_SIZE)),
      Consistency: (await proveConsistency(tree.readTiles, OLD_SIZE, SIZE)).map(base64),
    }
    const run = async (given: typeof input): Promise<string> => {
      const go = Bun.spawn(['go', 'run', join(import.meta.dir, 'go', 'read.go')], {
        env: { PATH: process.env['PATH'] ?? '', HOME: folder, GO111MODULE: 'off', GOPATH: GO_PATH, GOFLAGS: '' },
        stdin: new TextEncoder().encode(JSON.stringify(given)),
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [printed, failed] = await Promise.all([new Response(go.stdout).text(), new Response(go.stderr).text()])
      return `${printed}${failed.replace(/^exit status 1\n$/, '')}`
    }
    expect(await run(input)).toBe('ok\n')
    expect(await run({ ...input, Entry: base64(Buffer.alloc(48)) })).toContain('invalid transparency proof')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
