// The bill of materials is what CycloneDX's own schema takes, and says of every locked package what the lock file and the
// package say.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Ajv from 'ajv'
import { Glob } from 'bun'
import { type LockedPackage, readLockedPackages } from '../../src/cli/locked-packages.ts'
import { billOfMaterials } from '../../src/cli/sbom.ts'
import { runCountersign } from '../service/run-to-end.ts'

const ROOT = join(import.meta.dir, '..', '..')
const library = dirname(Bun.resolveSync('@cyclonedx/cyclonedx-library/package.json', import.meta.dir))
const schema = (name: string): object =>
  JSON.parse(readFileSync(join(library, 'res', 'schema', `${name}.SNAPSHOT.schema.json`), 'utf8')) as object

const ajv = new Ajv({ strict: false, validateFormats: false })
for (const part of ['spdx', 'jsf-0.82']) {
  ajv.addSchema(schema(part), `http://cyclonedx.org/schema/${part}.SNAPSHOT.schema.json`)
}
const validate = ajv.compile(schema('bom-1.6'))

type Bill = ReturnType<typeof billOfMaterials>
interface Shown {
  readonly 'bom-ref': string
  readonly scope: string
}
const packages = readLockedPackages()
const named = (bill: Bill, name: string): Shown | undefined =>
  (bill.components as readonly Shown[]).find((component) => component['bom-ref'].replace(/@[^@]*$/, '') === name)

describe('countersign sbom', () => {
  test('prints what the schema of CycloneDX 1.6 takes, the same each time', async () => {
    const first = await runCountersign({}, 'sbom')
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' })
    validate(JSON.parse(first.stdout))
    expect(validate.errors).toBeNull()
    expect((await runCountersign({}, 'sbom')).stdout).toBe(first.stdout)
  })

  test('would be refused by that schema without what it asks for', () => {
    const bill = billOfMaterials(packages, true)
    expect(validate({ ...bill, bomFormat: 'SPDX' })).toBe(false)
    expect(validate({ ...bill, components: [{ name: 'x' }] })).toBe(false)
    expect(
      validate({ ...bill, components: [{ type: 'library', name: 'x', hashes: [{ alg: 'SHA-512', content: 'x' }] }] }),
    ).toBe(false)
  })

  test('has every package that is installed, with the hash of the lock file', () => {
    const lock = readFileSync(join(ROOT, 'bun.lock'), 'utf8')
    const listed = new Map(packages.map(({ name, version, integrity }) => [`${name}@${version}`, integrity]))
    const cwd = join(ROOT, 'node_modules')
    const manifests = ['*/package.json', '@*/*/package.json'].flatMap((each) => [...new Glob(each).scanSync({ cwd })])
    const installed = manifests.map((path) => {
      const { name, version } = JSON.parse(readFileSync(join(cwd, path), 'utf8')) as Record<string, string>
      return `${name}@${version}`
    })
    expect(installed.length).toBeGreaterThan(150)
    expect(installed.filter((name) => !listed.has(name))).toEqual([])
    for (const [name, integrity] of listed) expect([name, lock.includes(`"${integrity}"]`)]).toEqual([name, true])
    const { components } = billOfMaterials(packages, true)
    const [hash] = components.flatMap((component) => ('hashes' in component ? component.hashes : []))
    expect(hash?.content).toBe(
      Buffer.from(packages[0]?.integrity.replace('sha512-', '') ?? '', 'base64').toString('hex'),
    )
  })

  test('tells direct from indirect, and what runs from what only tests', () => {
    const bill = billOfMaterials(packages, true)
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
      'dependencies' | 'devDependencies',
      Record<string, string>
    >
    const [own] = bill.dependencies
    const direct = Object.entries({ ...dependencies, ...devDependencies }).map(
      ([name, version]) => `${name}@${version}`,
    )
    expect(own?.dependsOn.slice(1).toSorted()).toEqual(direct.sort())
    for (const name of Object.keys(dependencies)) expect([name, named(bill, name)?.scope]).toEqual([name, 'required'])
    for (const name of ['playwright-core', 'solc', 'fast-check', 'typescript']) {
      expect([name, named(bill, name)?.scope]).toEqual([name, 'excluded'])
    }
    const shorter = billOfMaterials(packages, false)
    expect(named(shorter, 'playwright-core')).toBeUndefined()
    expect(shorter.components.every(({ scope }) => scope === 'required')).toBe(true)
  })

  test('refers to nothing that is not in it', () => {
    for (const everything of [true, false]) {
      const { components, dependencies } = billOfMaterials(packages, everything)
      const there = new Set(components.map((component) => component['bom-ref']))
      expect(there.size).toBe(components.length)
      expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((reference) => !there.has(reference))).toEqual(
        [],
      )
    }
  })

  test('has the licence of every installed package that runs', () => {
    const without = packages.filter(({ production, license }) => production && license === null)
    // For other platforms.
    expect(
      without.filter(({ name }) => !/(?:linux|linuxmusl|darwin|win32|freebsd|webcontainers?|wasm|emnapi)/.test(name)),
    ).toEqual([])
  })

  test('writes scopes, expressions and odd licences as their specifications say', () => {
    const odd: LockedPackage = {
      place: 'a/@b/c',
      name: '@b/c',
      version: '1.0.0',
      integrity: 'sha512-AAAA',
      direct: false,
      production: true,
      license: 'SEE LICENSE IN x',
      needs: [],
    }
    const [, first, second] = billOfMaterials(
      [odd, { ...odd, place: 'd', license: '(MIT OR Apache-2.0)' }],
      true,
    ).components
    expect(first).toMatchObject({
      'bom-ref': 'a/@b/c@1.0.0',
      purl: 'pkg:npm/%40b/c@1.0.0',
      licenses: [{ license: { name: 'SEE LICENSE IN x' } }],
    })
    expect(second).toMatchObject({ licenses: [{ expression: '(MIT OR Apache-2.0)' }] })
  })
})
