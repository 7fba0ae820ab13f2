// The built Solana programs, compared with their sources and checksums, and the discriminators in the sources.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { buildProgram, FOLDER, PROGRAMS, programFile, sums, whyNotBuilt } from '../../contracts/solana/build.ts'
import { words } from '../support/words.ts'

const reason = whyNotBuilt()

describe('the Solana programs', () => {
  test.each([...PROGRAMS])('%s.so has its recorded checksum', (name) => {
    const files = Object.fromEntries(PROGRAMS.map((each) => [each, readFileSync(programFile(each))])) as never
    const lines = sums(files).split('\n')
    const line = lines.find((each) => each.endsWith(`${name}.so`))
    expect(readFileSync(join(FOLDER, 'SHA256SUMS'), 'utf8')).toContain(`${line}\n`)
  })

  for (const name of PROGRAMS) {
    test.skipIf(reason !== null)(`${name}.so equals its build${reason === null ? '' : ` (${reason})`}`, () => {
      expect(buildProgram(name).equals(readFileSync(programFile(name)))).toBe(true)
    })
  }

  test('identify instructions and accounts by the first 8 bytes of SHA-256 of their names', () => {
    const hash = (text: string) => `0x${createHash('sha256').update(text).digest().readBigUInt64LE().toString(16)}`
    const paths = [...new Glob('**/*.{c,h}').scanSync({ cwd: FOLDER })]
    const text = paths.map((path) => readFileSync(join(FOLDER, path), 'utf8')).join('\n')
    const written = new Set([...text.matchAll(/0x0*([0-9a-f]{9,16})ULL/g)].map(([, digits]) => `0x${digits}`))
    const instructions = words`
      initialize register_attester deregister_attester transfer_authority accept_authority set_policy_id
      update_policy_id set_policy_owner validate_attestation cleanup_expired_uuid withdraw
    `.map((name) => hash(`global:${name}`))
    const accounts = ['PredicateRegistry', 'AttesterAccount', 'PolicyAccount', 'SpentUuid', 'VaultConfig'].map((name) =>
      hash(`account:${name}`),
    )
    // Floating-point numbers of the rent sysvar.
    const others = ['0x3ff0000000000000', '0x4000000000000000']
    expect([...written].sort()).toEqual([...instructions, ...accounts, ...others].sort())
  })
})
