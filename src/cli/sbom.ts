// `countersign sbom`: a CycloneDX 1.6 bill of materials (ECMA-424), the same for every run of a checkout.

import { type CommandOutput, parseCommand } from '../command-line/output.ts'
import { runToExitCode } from '../command-line/print-error.ts'
import { PROGRAM } from '../program/labels.ts'
import { type LockedPackage, readLockedPackages, readManifest } from './locked-packages.ts'

const USAGE = `Usage: ${PROGRAM} sbom [--production]

Prints the packages of this version as CycloneDX 1.6 JSON: name, version, package URL, license, the hash of the archive from
the lock file, and dependencies. Packages for other platforms are listed without a license, because they are not installed.

  --production  Omit packages that only tests and tools need
  --help        Print this help

Exit codes: 0 success, 2 invalid arguments.
`

const ALGORITHMS: Readonly<Record<string, string>> = {
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
}

/** Returns the algorithm and hex digest of `sha512-<base64>`. */
const hashOf = (integrity: string) => {
  const at = integrity.indexOf('-')
  const alg = ALGORITHMS[integrity.slice(0, at)]
  if (alg === undefined) throw new Error(`bun.lock has a hash of another kind: ${integrity.slice(0, at)}`)
  return { alg, content: Buffer.from(integrity.slice(at + 1), 'base64').toString('hex') }
}

const referenceOf = ({ place, version }: Pick<LockedPackage, 'place' | 'version'>): string => `${place}@${version}`

/** The @ of a scope is percent-encoded, its slash isn't. */
const purlOf = (packageName: string, packageVersion: string): string =>
  `pkg:npm/${packageName.replace('@', '%40')}@${packageVersion}`

/** Returns an SPDX expression if the text looks like one; otherwise a license name. */
const licenseOf = (text: string) =>
  /^[A-Za-z0-9.+-]+$|^\(?[A-Za-z0-9.+()-]+(?: (?:AND|OR|WITH) [A-Za-z0-9.+()-]+)+\)?$/.test(text)
    ? { expression: text }
    : { license: { name: text } }

const componentOf = (found: LockedPackage) => ({
  type: 'library',
  'bom-ref': referenceOf(found),
  name: found.name,
  version: found.version,
  scope: found.production ? 'required' : 'excluded',
  hashes: [hashOf(found.integrity)],
  ...(found.license === null ? {} : { licenses: [licenseOf(found.license)] }),
  purl: purlOf(found.name, found.version),
  properties: [
    { name: 'countersign:direct', value: String(found.direct) },
    // Name from CycloneDX's npm taxonomy.
    { name: 'cdx:npm:package:development', value: String(!found.production) },
  ],
})

/** @param everything includes development dependencies */
export const billOfMaterials = (packages: readonly LockedPackage[], everything: boolean) => {
  const listed = packages.filter(({ production }) => everything || production)
  const references = new Map(listed.map((found) => [found.place, referenceOf(found)]))
  const { license, name, packageManager, version } = readManifest()
  const [runtime = '', runtimeVersion = ''] = packageManager.split('@')
  const runtimeReference = `${runtime}@${runtimeVersion}`
  const own = `${name}@${version}`
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      tools: { components: [{ type: 'application', name: `${name} sbom`, version }] },
      component: {
        type: 'application',
        'bom-ref': own,
        name,
        version,
        licenses: [{ expression: license }],
      },
    },
    components: [
      {
        type: 'platform',
        'bom-ref': runtimeReference,
        name: runtime,
        version: runtimeVersion,
        scope: 'required',
        purl: `pkg:github/oven-sh/bun@bun-v${runtimeVersion}`,
      },
      ...listed.map(componentOf),
    ],
    dependencies: [
      {
        ref: own,
        dependsOn: [runtimeReference, ...listed.filter(({ direct }) => direct).map(referenceOf)],
      },
      ...listed.map((found) => ({
        ref: referenceOf(found),
        dependsOn: found.needs.flatMap((place) => references.get(place) ?? []),
      })),
    ],
  }
}

export const runSbom = (commandArguments: readonly string[], output: CommandOutput): Promise<number> =>
  runToExitCode(output, USAGE, commandArguments, async () => {
    const command = parseCommand(commandArguments, {
      production: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    const bill = billOfMaterials(readLockedPackages(), !command.flag('production'))
    output.stdout(`${JSON.stringify(bill, null, 2)}\n`)
    return 0
  })
