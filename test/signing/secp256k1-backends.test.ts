// The choice of a secp256k1 backend, and its self-test.
import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { SignerUnusableError } from '../../src/signing/errors.ts'
import {
  chooseSecp256k1Backend,
  SECP256K1_BACKEND_NAMES,
  type Secp256k1Loaders,
} from '../../src/signing/secp256k1-backends.ts'
import { loadNobleSecp256k1 } from '../../src/signing/secp256k1-noble.ts'
import { loadSystemSecp256k1, systemLibraryPaths } from '../../src/signing/secp256k1-system.ts'
import type { Secp256k1Backend, Secp256k1BackendName } from '../../src/signing/types.ts'
import { removeTemporaryDirectories, temporaryDirectory } from '../workers/support/attesters.ts'
import { backendCandidates } from './test-keys.ts'

afterAll(removeTemporaryDirectories)

/** Noble under another name. */
const working = (name: Secp256k1BackendName): Secp256k1Backend => ({ ...loadNobleSecp256k1(), name })

const absent = (): never => {
  throw new SignerUnusableError('it is not installed')
}

/** Changes one byte of each signature. */
const wrong = (name: Secp256k1BackendName, position: number): Secp256k1Backend => ({
  ...working(name),
  createSigner: (key) => {
    const signer = working(name).createSigner(key)
    const sign = (digest: Uint8Array, signature: Uint8Array): void => {
      signer.sign(digest, signature)
      signature[position]! ^= 1
    }
    return { ...signer, sign }
  },
})

const loaders = (changed: Partial<Secp256k1Loaders> = {}): Secp256k1Loaders => ({
  libsecp256k1: () => working('libsecp256k1'),
  'secp256k1-node': () => working('secp256k1-node'),
  noble: loadNobleSecp256k1,
  ...changed,
})

describe('auto', () => {
  test('chooses the first working backend, in the order libsecp256k1, secp256k1-node, noble', () => {
    expect(chooseSecp256k1Backend('auto', loaders())).toMatchObject({ backend: { name: 'libsecp256k1' }, skipped: [] })
    const choice = chooseSecp256k1Backend('auto', loaders({ libsecp256k1: absent, 'secp256k1-node': absent }))
    expect(choice.backend.name).toBe('noble')
    expect(choice.skipped).toEqual([
      { name: 'libsecp256k1', reason: 'it is not installed' },
      { name: 'secp256k1-node', reason: 'it is not installed' },
    ])
  })

  // Signs with another key, so that its signatures are valid.
  const otherKey: Secp256k1Backend = {
    ...working('libsecp256k1'),
    createSigner: (key) =>
      working('libsecp256k1').createSigner(key[0] === 0 ? key : Uint8Array.from(key, (byte) => byte ^ 1)),
  }
  test.each<[string, () => Secp256k1Backend, string]>([
    ['whose r is wrong', () => wrong('libsecp256k1', 0), ''],
    ['whose s is wrong', () => wrong('libsecp256k1', 40), ''],
    ['whose v is wrong', () => wrong('libsecp256k1', 64), ''],
    [
      'whose signatures are wrong except for the published one',
      () => otherKey,
      'its signatures differ from those of @noble/curves',
    ],
    [
      'that fails, without its error message',
      () => {
        throw new Error('something internal')
      },
      'it failed its self-test',
    ],
  ])('skips a backend %s', (_name, libsecp256k1, reason) => {
    const choice = chooseSecp256k1Backend('auto', loaders({ libsecp256k1 }))
    expect(choice.backend.name).toBe('secp256k1-node')
    expect(choice.skipped).toEqual([{ name: 'libsecp256k1', reason: reason === '' ? expect.any(String) : reason }])
  })

  test('chooses an installed backend', () => {
    const installed = backendCandidates().find(({ backend }) => backend !== null)
    expect(chooseSecp256k1Backend('auto').backend.name).toBe(installed!.name)
  })
})

describe('a named backend', () => {
  test.each([...SECP256K1_BACKEND_NAMES])('%s is used', (name) => {
    expect(chooseSecp256k1Backend(name, loaders()).backend.name).toBe(name)
  })

  test('is not replaced by another if it is unavailable', () => {
    const choose = () => chooseSecp256k1Backend('libsecp256k1', loaders({ libsecp256k1: absent }))
    expect(choose).toThrow(SignerUnusableError)
    expect(choose).toThrow('no signing backend is available: libsecp256k1: it is not installed')
  })

  test('noble is refused if its signatures are wrong', () => {
    const choose = () => chooseSecp256k1Backend('noble', loaders({ noble: () => wrong('noble', 3) }))
    expect(choose).toThrow(SignerUnusableError)
  })
})

describe('the system library', () => {
  test.each([
    ['linux', 'x64'],
    ['linux', 'arm64'],
    ['darwin', 'arm64'],
  ])('has absolute paths, newest version first (%s %s)', (platform, architecture) => {
    const paths = systemLibraryPaths(platform, architecture)
    expect(paths.every(isAbsolute)).toBe(true)
    expect(paths[0]).toMatch(/libsecp256k1\.(?:so\.7|7\.dylib)$/)
    expect(paths.length).toBeGreaterThan(4)
  })

  test('is not supported on other platforms', () => {
    expect(systemLibraryPaths('win32', 'x64')).toEqual([])
    expect(() => loadSystemSecp256k1([])).toThrow('libsecp256k1 is not installed')
  })

  test('is refused if the file is not a library', () => {
    const path = join(temporaryDirectory(), 'libsecp256k1.so.7')
    writeFileSync(path, 'not a library')
    expect(() => loadSystemSecp256k1([path])).toThrow(`${path} is not a usable libsecp256k1`)
  })

  const compiler = Bun.which('cc')
  test.skipIf(compiler === null || process.platform !== 'linux')(
    'is refused without the recovery module (skipped without a C compiler on Linux)',
    () => {
      const folder = temporaryDirectory()
      const names = 'context_create context_randomize ec_seckey_verify ec_pubkey_create ec_pubkey_serialize'.split(' ')
      const source = join(folder, 'stub.c')
      writeFileSync(source, names.map((name) => `int secp256k1_${name}(void) { return 0; }`).join('\n'))
      const path = join(folder, 'libsecp256k1.so.7')
      expect(Bun.spawnSync([compiler!, '-shared', '-fPIC', '-o', path, source]).exitCode).toBe(0)
      expect(() => loadSystemSecp256k1([path])).toThrow(`${path} was built without the recovery module`)
    },
  )
})
