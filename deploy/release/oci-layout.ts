// Writes an image as a folder in the format of the OCI image specification 1.1
// (https://github.com/opencontainers/image-spec). Equal files give equal bytes.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

export interface Layer {
  /** Root folder of the layer. */
  readonly folder: string
  readonly owner: number
  /** Text for the image's history. */
  readonly made: string
}

export interface ImageOptions {
  readonly layers: readonly Layer[]
  readonly architecture: string
  /** Runtime configuration: `config` of the specification. */
  readonly config: Readonly<Record<string, unknown>>
  /** Unix seconds; the time of all files and of the image. */
  readonly createdSeconds: number
  /** For example the version. */
  readonly reference: string
  /** Output folder. */
  readonly out: string
}

/** A layer could not be packed. The message is from tar. */
export class LayerError extends Error {
  override readonly name = 'LayerError'
}

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

const pack = ({ folder, owner }: Layer, createdSeconds: number): Uint8Array => {
  const form = ['--format=ustar', '--sort=name', `--mtime=@${createdSeconds}`, '--numeric-owner']
  const owned = [`--owner=${owner}`, `--group=${owner}`]
  // By name, because the folder itself would add the owner of `/`.
  const names = readdirSync(folder).sort()
  const words = ['tar', '--create', ...form, ...owned, '--directory', folder, ...names]
  const { success, stdout, stderr } = Bun.spawnSync(words, {
    stdin: 'ignore',
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
  })
  if (!success) throw new LayerError(`tar: ${stderr.toString().trim()}`)
  return stdout
}

/** @returns the manifest's digest @throws LayerError */
export const writeImage = (options: ImageOptions): string => {
  const { layers, architecture, config, createdSeconds, reference, out } = options
  const blobs = join(out, 'blobs', 'sha256')
  mkdirSync(blobs, { recursive: true })
  const put = (mediaType: string, bytes: Uint8Array): Descriptor => {
    const digest = digestOf(bytes)
    writeFileSync(join(blobs, digest.slice('sha256:'.length)), bytes)
    return { mediaType, digest, size: bytes.length }
  }
  const putJson = (mediaType: string, value: unknown): Descriptor => put(mediaType, Buffer.from(JSON.stringify(value)))

  const created = new Date(createdSeconds * 1_000).toISOString().replace('.000Z', 'Z')
  const packed = layers.map((layer) => {
    const tar = pack(layer, createdSeconds)
    const descriptor = put('application/vnd.oci.image.layer.v1.tar+gzip', gzipSync(tar, { level: 6 }))
    return { diffId: digestOf(tar), descriptor, history: { created, created_by: layer.made } }
  })
  const image = {
    created,
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: packed.map(({ diffId }) => diffId) },
    history: packed.map(({ history }) => history),
  }
  const manifestType = 'application/vnd.oci.image.manifest.v1+json'
  const manifest = putJson(manifestType, {
    schemaVersion: 2,
    mediaType: manifestType,
    config: putJson('application/vnd.oci.image.config.v1+json', image),
    layers: packed.map(({ descriptor }) => descriptor),
  })
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...manifest,
        platform: { architecture, os: 'linux' },
        annotations: { 'org.opencontainers.image.ref.name': reference },
      },
    ],
  }
  writeFileSync(join(out, 'index.json'), JSON.stringify(index))
  writeFileSync(join(out, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  return manifest.digest
}
