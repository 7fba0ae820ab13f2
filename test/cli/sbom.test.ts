// The bill of materials, compared with the schema of CycloneDX, the lock file and the installed packages.
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

const packages = readLockedPackages()
const bill = billOfMaterials(packages, true)
const production = billOfMaterials(packages, false)
const scopeOf = ({ components }: typeof bill, name: string): string | undefined =>
  components.find((component) => component['bom-ref'].replace(/@[^@]*$/, '') === name)?.scope

describe('countersign sbom', () => {
  test('prints the same valid document in each run', async () => {
    const first = await runCountersign({}, 'sbom')
    expect([first.code, first.stderr]).toEqual([0, ''])
    validate(JSON.parse(first.stdout))
    expect(validate.errors).toBeNull()
    expect((await runCountersign({}, 'sbom')).stdout).toBe(first.stdout)
  })

  test.each([
    ['another format', { bomFormat: 'SPDX' }],
    ['a component without a type', { components: [{ name: 'x' }] }],
    ['a malformed hash', { components: [{ type: 'library', name: 'x', hashes: [{ alg: 'SHA-512', content: 'x' }] }] }],
  ])('the schema refuses %s', (_, changes) => expect(validate({ ...bill, ...changes })).toBe(false))

  test('contains every installed package, with the hash in the lock file', () => {
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
    const [hash] = bill.components.flatMap((component) => ('hashes' in component ? component.hashes : []))
    const integrity = packages[0]?.integrity.replace('sha512-', '') ?? ''
    expect(hash?.content).toBe(Buffer.from(integrity, 'base64').toString('hex'))
  })

  test('distinguishes direct from indirect packages, and production from development packages', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
      'dependencies' | 'devDependencies',
      Record<string, string>
    >
    const direct = Object.entries({ ...dependencies, ...devDependencies }).map((entry) => entry.join('@'))
    expect(bill.dependencies[0]?.dependsOn.slice(1).toSorted()).toEqual(direct.sort())
    for (const name of Object.keys(dependencies)) expect([name, scopeOf(bill, name)]).toEqual([name, 'required'])
    for (const name of ['playwright-core', 'solc', 'fast-check', 'typescript']) {
      expect([name, scopeOf(bill, name)]).toEqual([name, 'excluded'])
    }
    expect(scopeOf(production, 'playwright-core')).toBeUndefined()
    expect(production.components.every(({ scope }) => scope === 'required')).toBe(true)
  })

  test.each([
    ['with', bill],
    ['without', production],
  ])('%s development packages refers only to its own components', (_, { components, dependencies }) => {
    const references = new Set(components.map((component) => component['bom-ref']))
    expect(references.size).toBe(components.length)
    const unknown = dependencies.flatMap(({ dependsOn }) => dependsOn).filter((each) => !references.has(each))
    expect(unknown).toEqual([])
  })

  test('contains the license of every production package', () => {
    const otherPlatform = /(?:linux|linuxmusl|darwin|win32|freebsd|webcontainers?|wasm|emnapi)/
    const without = packages.filter((each) => each.production && each.license === null)
    expect(without.filter(({ name }) => !otherPlatform.test(name))).toEqual([])
  })

  test('contains scoped names, license expressions and other licenses in the specified format', () => {
    const scoped: LockedPackage = {
      place: 'a/@b/c',
      name: '@b/c',
      version: '1.0.0',
      integrity: 'sha512-AAAA',
      direct: false,
      production: true,
      license: 'SEE LICENSE IN x',
      needs: [],
    }
    const expression = '(MIT OR Apache-2.0)'
    const { components } = billOfMaterials([scoped, { ...scoped, place: 'd', license: expression }], true)
    expect(components.slice(1)).toMatchObject([
      {
        'bom-ref': 'a/@b/c@1.0.0',
        purl: 'pkg:npm/%40b/c@1.0.0',
        licenses: [{ license: { name: 'SEE LICENSE IN x' } }],
      },
      { licenses: [{ expression }] },
    ])
  })
})
