// OCI images of a release: the same files produce the same image, and each blob is named by its digest.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { writeImage } from '../../deploy/release/oci-layout.ts'
import { newFolder } from '../support/folder.ts'

const folder = newFolder()

const imageOf = (name: string, files: readonly string[], timeSeconds: number) => {
  const from = join(folder, `${name}-files`)
  const out = join(folder, name)
  mkdirSync(join(from, 'data'), { recursive: true, mode: 0o700 })
  for (const file of files) {
    writeFileSync(join(from, 'data', file), file, { mode: 0o600 })
    utimesSync(join(from, 'data', file), timeSeconds, timeSeconds)
  }
  const layers = [{ folder: from, owner: 1000, made: 'a test' }]
  const digest = writeImage({ layers, architecture: 'amd64', config: {}, createdSeconds: 7, reference: '1.2.3', out })
  return { out, digest }
}

describe('an image', () => {
  const one = imageOf('one', ['first', 'second', 'third'], 1_000)
  const other = imageOf('other', ['third', 'first', 'second'], 2_000)
  const read = (path: string): Buffer => readFileSync(join(one.out, path))

  test('is the same for the same files at any time and in any order', () => {
    expect(other.digest).toBe(one.digest)
    expect(imageOf('changed', ['first', 'second'], 1_000).digest).not.toBe(one.digest)
  })

  test('has blobs named by their digests, all reachable from the index', () => {
    const names = readdirSync(join(one.out, 'blobs/sha256'))
    const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
    for (const name of names) expect(digestOf(read(`blobs/sha256/${name}`))).toBe(name)
    const index = JSON.parse(read('index.json').toString())
    expect(index.manifests).toMatchObject([
      { digest: one.digest, annotations: { 'org.opencontainers.image.ref.name': '1.2.3' } },
    ])
    const manifest = JSON.parse(read(`blobs/sha256/${one.digest.replace('sha256:', '')}`).toString())
    expect(names).toHaveLength(2 + manifest.layers.length)
    const config = JSON.parse(read(`blobs/sha256/${manifest.config.digest.replace('sha256:', '')}`).toString())
    expect(config).toMatchObject({ created: '1970-01-01T00:00:07Z', architecture: 'amd64', os: 'linux' })
  })

  test('has the configured owner and time, and no data from the build machine', () => {
    const layer = readdirSync(join(one.out, 'blobs/sha256'))
      .map((name) => read(`blobs/sha256/${name}`))
      .find((bytes) => bytes[0] === 0x1f)
    const tar = join(folder, 'layer.tar')
    writeFileSync(tar, gunzipSync(layer ?? Buffer.alloc(0)))
    const words = ['tar', '--list', '--verbose', '--numeric-owner', '--utc', '--full-time', '--file', tar]
    const lines = Bun.spawnSync(words).stdout.toString().trim().split('\n')
    expect(lines.map((line) => line.split(/\s+/).filter((_, at) => at !== 2))).toEqual([
      ['drwx------', '1000/1000', '1970-01-01', '00:00:07', 'data/'],
      ['-rw-------', '1000/1000', '1970-01-01', '00:00:07', 'data/first'],
      ['-rw-------', '1000/1000', '1970-01-01', '00:00:07', 'data/second'],
      ['-rw-------', '1000/1000', '1970-01-01', '00:00:07', 'data/third'],
    ])
  })
})
