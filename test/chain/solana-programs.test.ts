// The Solana programs that are here are what their sources give, byte by byte, and their names for instructions and
// accounts are hashes of the names that the documentation has.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { buildProgram, FOLDER, PROGRAMS, programFile, sums, whyNotBuilt } from '../../contracts/solana/build.ts'
import { words } from '../support/words.ts'

const reason = whyNotBuilt()

describe('the Solana programs', () => {
  test.each([...PROGRAMS])('%s.so has the sum that is written down', (name) => {
    const files = Object.fromEntries(PROGRAMS.map((each) => [each, readFileSync(programFile(each))])) as never
    const line = sums(files)
      .split('\n')
      .find((each) => each.endsWith(`${name}.so`))
    expect(readFileSync(join(FOLDER, 'SHA256SUMS'), 'utf8')).toContain(`${line}\n`)
  })

  for (const name of PROGRAMS) {
    test.skipIf(reason !== null)(`${name}.so is what its sources give${reason === null ? '' : ` (${reason})`}`, () => {
      expect(buildProgram(name).equals(readFileSync(programFile(name)))).toBe(true)
    })
  }

  test('know instructions by the first 8 bytes of SHA-256 of their names', () => {
    const hash = (text: string) => `0x${createHash('sha256').update(text).digest().readBigUInt64LE().toString(16)}`
    const sources = [...new Glob('**/*.{c,h}').scanSync({ cwd: FOLDER })].map((path) =>
      readFileSync(join(FOLDER, path), 'utf8'),
    )
    const text = sources.join('\n')
    const written = new Set([...text.matchAll(/0x0*([0-9a-f]{9,16})ULL/g)].map(([, digits]) => `0x${digits}`))
    const instructions = words`
      initialize register_attester deregister_attester transfer_authority accept_authority set_policy_id
      update_policy_id set_policy_owner validate_attestation cleanup_expired_uuid withdraw
    `.map((name) => hash(`global:${name}`))
    const accounts = ['PredicateRegistry', 'AttesterAccount', 'PolicyAccount', 'SpentUuid', 'VaultConfig'].map((name) =>
      hash(`account:${name}`),
    )
    // Two that are doubles of the rent sysvar.
    const others = ['0x3ff0000000000000', '0x4000000000000000']
    expect([...written].sort()).toEqual([...instructions, ...accounts, ...others].sort())
  })
})
