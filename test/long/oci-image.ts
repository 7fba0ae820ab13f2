// Check of the image of deploy/release/oci-image.ts: `bun test/long/oci-image.ts [--schemas DIR]`. Two builds have the same
// digest, each blob is named by its hash, and a node runs in the image in bubblewrap, as an ordinary user on a read-only
// file system. With --schemas, the folder `schema` of github.com/opencontainers/image-spec, its documents are validated.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Ajv from 'ajv'
import { makeOciImage } from '../../deploy/release/oci-image.ts'
import type { Descriptor } from '../../deploy/release/oci-layout.ts'
import { WALLET } from '../service/calls.ts'
import { freePort, parseEnvironmentFile } from '../service/start-service.ts'
import { answerHelp } from '../support/head-help.ts'
import { until } from '../support/until.ts'

answerHelp(import.meta)

const ROOT = join(import.meta.dir, '..', '..')
const START_LIMIT_MS = 120_000

interface Manifest {
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
}
interface ImageConfig {
  readonly config: {
    readonly Env: readonly string[]
    readonly Entrypoint: readonly string[]
    readonly Cmd: readonly string[]
  }
}

const write = (line: string): void => void process.stdout.write(`${line}\n`)
const check = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what)
}
const { values } = parseArgs({ options: { schemas: { type: 'string' } } })
const scratch = mkdtempSync(join(tmpdir(), 'countersign-oci-test-'))
const image = join(scratch, 'image')
const readJson = (path: string): unknown => JSON.parse(readFileSync(join(image, path), 'utf8'))
const blobOf = ({ digest }: Descriptor): string => `blobs/sha256/${digest.replace('sha256:', '')}`

/** The schemas refer to each other by file name. Their `id` and `$schema`, of an old draft, are removed for Ajv. */
const validateBy = (folder: string, documents: Readonly<Record<string, unknown>>): void => {
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== 'object' || value === null) return value
    const kept = Object.entries(value).filter(
      ([key, member]) => !/^(id|\$schema)$/.test(key) || typeof member !== 'string',
    )
    return Object.fromEntries(kept.map(([key, member]) => [key, plain(member)]))
  }
  const ajv = new Ajv({ strict: false, validateFormats: false })
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
    const schema = plain(JSON.parse(readFileSync(join(folder, name), 'utf8'))) as object
    ajv.addSchema({ ...schema, $id: `https://image-spec.example/${name}` })
  }
  for (const [name, document] of Object.entries(documents)) {
    const validate = ajv.getSchema(`https://image-spec.example/${name}.json`)
    check(validate?.(document) === true, `${name}: ${JSON.stringify(validate?.errors)}`)
  }
}

try {
  const make = (out: string) =>
    makeOciImage({ architecture: 'amd64', out, suite: 'trixie', snapshot: null, createdSeconds: 0, tell: write })
  const { digest } = await make(image)
  const again = await make(join(scratch, 'again'))
  check(again.digest === digest, `the second build has another digest: ${again.digest}`)
  write(`two builds, one digest: ${digest}`)

  for (const name of readdirSync(join(image, 'blobs/sha256'))) {
    const sum = createHash('sha256')
      .update(readFileSync(join(image, 'blobs/sha256', name)))
      .digest('hex')
    check(sum === name, `blob ${name} has the hash ${sum}`)
  }
  const index = readJson('index.json') as { readonly manifests: readonly [Descriptor] }
  const manifest = readJson(blobOf(index.manifests[0])) as Manifest
  const { config } = readJson(blobOf(manifest.config)) as ImageConfig
  if (values.schemas !== undefined) {
    validateBy(values.schemas, {
      'image-layout-schema': readJson('oci-layout'),
      'image-index-schema': index,
      'image-manifest-schema': manifest,
      'config-schema': readJson(blobOf(manifest.config)),
    })
    write('layout, index, manifest and configuration match their schemas')
  }

  const root = join(scratch, 'root')
  const data = join(scratch, 'data')
  for (const folder of [root, data]) mkdirSync(folder, { mode: 0o700 })
  for (const layer of manifest.layers) {
    const { success } = Bun.spawnSync(['tar', '-xzf', join(image, blobOf(layer)), '--no-same-owner', '-C', root])
    check(success, `layer ${layer.digest} can't be unpacked`)
  }
  const [api, portal, dashboard] = [freePort(), freePort(), freePort()].map((port) => `127.0.0.1:${port}`)
  const inImage = (words: readonly string[], stdin: Uint8Array | 'ignore') => {
    const environment = [
      ...config.Env.map((pair): readonly [string, string] => [
        pair.slice(0, pair.indexOf('=')),
        pair.slice(pair.indexOf('=') + 1),
      ]),
      ['COUNTERSIGN_API_LISTEN', api ?? ''] as const,
      ['COUNTERSIGN_PORTAL_LISTEN', portal ?? ''] as const,
      ['COUNTERSIGN_DASHBOARD_LISTEN', dashboard ?? ''] as const,
    ]
    const files = `--ro-bind ${root} / --bind ${data} /data --tmpfs /tmp --proc /proc --dev /dev --chdir /data`.split(
      ' ',
    )
    const user = '--unshare-user --uid 1000 --gid 1000 --unshare-pid --as-pid-1 --die-with-parent --clearenv'.split(' ')
    const variables = environment.flatMap(([name, value]) => ['--setenv', name, value])
    return Bun.spawn(['bwrap', ...files, ...user, ...variables, ...words], { stdin, stdout: 'pipe', stderr: 'pipe' })
  }
  const node = inImage([...config.Entrypoint, ...config.Cmd], 'ignore')
  let printed = ''
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    for await (const chunk of stream) printed += Buffer.from(chunk).toString()
  }
  const reading = Promise.all([read(node.stdout), read(node.stderr)])
  try {
    const isReady = (): boolean => printed.includes('"message":"ready"') || node.exitCode !== null
    await until(isReady, { what: 'the node is ready', limitMs: START_LIMIT_MS })
    const quickstart = parseEnvironmentFile(readFileSync(join(data, 'quickstart.env'), 'utf8'))
    const answer = await fetch(`http://${api}/v2/attestation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': quickstart['ATTESTATION_API_KEY'] ?? '' },
      body: JSON.stringify({
        from: WALLET,
        chain: 'base',
        verification_hash: quickstart['VERIFICATION_HASH'],
      }),
    })
    const { is_compliant: isCompliant } = (await answer.json()) as { is_compliant?: unknown }
    check(isCompliant === true, 'the node does not sign')
    const signer = /"signer":"([^"]+)"/.exec(printed)?.[1]
    check(signer === 'libsecp256k1', `the node signs with ${signer}`)
    write(`a node in the image signs, with ${signer}`)
    const picture = new Uint8Array(readFileSync(join(ROOT, 'test/data/zones/passport.jpg')))
    const reader = inImage(
      ['/usr/bin/countersign', '--entry', 'src/modules/documents/worker/read-picture.process.ts', 'zone'],
      picture,
    )
    check((await new Response(reader.stdout).text()).includes('ERIKSSON'), 'the document is not read')
    write('a document is read')
  } catch (error) {
    write(printed)
    throw error
  } finally {
    node.kill('SIGKILL')
    await node.exited
    await reading
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
