import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
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
import { backendCandidates } from './test-keys.ts'

/** A backend that is noble by another name. */
const working = (name: Secp256k1BackendName): Secp256k1Backend => ({ ...loadNobleSecp256k1(), name })

const absent = (): never => {
  throw new SignerUnusableError('it is not installed')
}

/** Signs rightly, but with the bytes of `position` changed. */
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
  test('takes the first that works, in the order system, node, noble', () => {
    expect(SECP256K1_BACKEND_NAMES).toEqual(['libsecp256k1', 'secp256k1-node', 'noble'])
    expect(chooseSecp256k1Backend('auto', loaders())).toMatchObject({ backend: { name: 'libsecp256k1' }, skipped: [] })
  })

  test('says what it skipped and why', () => {
    const choice = chooseSecp256k1Backend('auto', loaders({ libsecp256k1: absent, 'secp256k1-node': absent }))
    expect(choice.backend.name).toBe('noble')
    expect(choice.skipped).toEqual([
      { name: 'libsecp256k1', reason: 'it is not installed' },
      { name: 'secp256k1-node', reason: 'it is not installed' },
    ])
  })

  test.each([
    ['r', 0],
    ['s', 40],
    ['v', 64],
  ])('does not take one whose %s is wrong', (_, position) => {
    const choice = chooseSecp256k1Backend('auto', loaders({ libsecp256k1: () => wrong('libsecp256k1', position) }))
    expect(choice.backend.name).toBe('secp256k1-node')
    expect(choice.skipped.map(({ name }) => name)).toEqual(['libsecp256k1'])
  })

  test('does not take one that is right for the published signature and not for others', () => {
    // It signs with another key, whose signatures are as valid, than it was given.
    const other: Secp256k1Backend = {
      ...working('libsecp256k1'),
      createSigner: (key) =>
        working('libsecp256k1').createSigner(key[0] === 0 ? key : Uint8Array.from(key, (byte) => byte ^ 1)),
    }
    const choice = chooseSecp256k1Backend('auto', loaders({ libsecp256k1: () => other }))
    expect(choice.skipped).toEqual([
      { name: 'libsecp256k1', reason: 'its signatures differ from those of @noble/curves' },
    ])
  })

  test('does not take one that breaks in an unforeseen way, and does not repeat its words', () => {
    const broken = (): never => {
      throw new Error('something internal')
    }
    const choice = chooseSecp256k1Backend('auto', loaders({ libsecp256k1: broken }))
    expect(choice.skipped).toEqual([{ name: 'libsecp256k1', reason: 'it failed its self-test' }])
  })

  test('finds one on this machine', () => {
    const installed = backendCandidates().find(({ backend }) => backend !== null)
    expect(chooseSecp256k1Backend('auto').backend.name).toBe(installed!.name)
  })
})

describe('a named backend', () => {
  test.each([...SECP256K1_BACKEND_NAMES])('%s is taken', (name) => {
    expect(chooseSecp256k1Backend(name, loaders()).backend.name).toBe(name)
  })

  test('is never replaced: one clear line says why it does not work', () => {
    const choose = () => chooseSecp256k1Backend('libsecp256k1', loaders({ libsecp256k1: absent }))
    expect(choose).toThrow(SignerUnusableError)
    expect(choose).toThrow('no signing backend is available: libsecp256k1: it is not installed')
  })

  test('noble is refused when noble itself is wrong', () => {
    const choose = () => chooseSecp256k1Backend('noble', loaders({ noble: () => wrong('noble', 3) }))
    expect(choose).toThrow(SignerUnusableError)
  })
})

describe('the system library', () => {
  test.each([
    ['linux', 'x64'],
    ['linux', 'arm64'],
    ['darwin', 'arm64'],
  ])('is looked for at absolute paths only, newest first (%s %s)', (platform, architecture) => {
    const paths = systemLibraryPaths(platform, architecture)
    expect(paths.every(isAbsolute)).toBe(true)
    expect(paths[0]).toMatch(/libsecp256k1\.(?:so\.7|7\.dylib)$/)
    expect(paths.length).toBeGreaterThan(4)
  })

  test('is nowhere on other platforms', () => {
    expect(systemLibraryPaths('win32', 'x64')).toEqual([])
    expect(() => loadSystemSecp256k1([])).toThrow('libsecp256k1 is not installed')
  })

  test('is refused when the file is something else', () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-secp256k1-'))
    try {
      const path = join(folder, 'libsecp256k1.so.7')
      writeFileSync(path, 'not a library')
      expect(() => loadSystemSecp256k1([path])).toThrow(`${path} is not a usable libsecp256k1`)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  const compiler = Bun.which('cc')
  test.skipIf(compiler === null || process.platform !== 'linux')(
    'is refused when it lacks the recovery module (skipped without a C compiler on Linux)',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'countersign-secp256k1-'))
      try {
        const names = [
          'context_create',
          'context_randomize',
          'ec_seckey_verify',
          'ec_pubkey_create',
          'ec_pubkey_serialize',
        ]
        const source = join(folder, 'stub.c')
        writeFileSync(source, names.map((name) => `int secp256k1_${name}(void) { return 0; }`).join('\n'))
        const path = join(folder, 'libsecp256k1.so.7')
        expect(Bun.spawnSync([compiler!, '-shared', '-fPIC', '-o', path, source]).exitCode).toBe(0)
        expect(() => loadSystemSecp256k1([path])).toThrow(`${path} was built without the recovery module`)
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  )
})
