// Text printed at each startup. API keys are printed only at first startup; later, they are in quickstart.env.
import { relative } from 'node:path'
import { ATTESTATION_PATHS } from '../attestation/paths.ts'
import type { Config } from '../config/config.ts'
import { isoSeconds } from '../lib/time.ts'
import { PROGRAM } from '../program/labels.ts'
import { dataFolderAt } from './data-folder.ts'
import type { Quickstart } from './quickstart.ts'

export interface StartedService {
  readonly url: string
  readonly signer: string
  readonly quickstart: Quickstart
  /** Link that creates the first account; null if an account exists. */
  readonly welcome: { readonly url: string; readonly expiresAtSeconds: number } | null
}

const SAMPLE_WALLET = '0x1111111111111111111111111111111111111111'

const curl = (url: string, key: string, verificationHash: string): string =>
  [
    `curl -s ${url}${ATTESTATION_PATHS.attestation.path} \\`,
    `  -H 'x-api-key: ${key}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '{"from":"${SAMPLE_WALLET}","chain":"base","verification_hash":"${verificationHash}"}'`,
  ].join('\n')

/** Returns a relative path for a path inside the current folder. */
const displayPath = (path: string): string => {
  const fromHere = relative(process.cwd(), path)
  return fromHere.startsWith('..') ? path : `./${fromHere}`
}

const workersText = ({ workers }: Config): string => {
  if (workers === 0) return 'on the main thread'
  return workers === 1 ? '1 worker' : `${workers} workers`
}

export const bannerText = (service: StartedService, config: Config): string => {
  const { values, first } = service.quickstart
  const folder = dataFolderAt(config.dataDir)
  const environmentFile = displayPath(folder.quickstart)
  const lines = [
    '',
    `Countersign is ready at ${service.url}`,
    ...(config.serve.has('attestation')
      ? [`  signing backend  ${service.signer}, ${workersText(config)}`]
      : [`  serves           ${[...config.serve].join(', ')}`]),
    `  data             ${displayPath(folder.root)}`,
  ]
  if (values['EVM_ATTESTER'] !== undefined) lines.push(`  EVM attester     ${values['EVM_ATTESTER']}`)
  if (values['SOLANA_ATTESTER'] !== undefined) lines.push(`  Solana attester  ${values['SOLANA_ATTESTER']}`)
  if (first && config.noDemo) {
    lines.push(
      '',
      'The first startup created two attesters but no organization or key, because of --no-demo.',
      ...(service.welcome === null ? [] : ['Create the first account with the link below.']),
      `Create an organization in the dashboard (or: ${PROGRAM} organization create SLUG --name NAME), then add a policy, a`,
      'project and keys.',
    )
  } else if (first) {
    lines.push(
      `  attestation key  ${values['ATTESTATION_API_KEY']}`,
      `  identity key     ${values['IDENTITY_API_KEY']}`,
      `  admin key        ${values['ADMIN_API_KEY']}`,
      '',
      `The first startup created an organization, a project, a policy, these keys and two attesters. They are listed in`,
      `${environmentFile}, which only you can read. The keys are printed only once.`,
    )
  }
  if (first && config.passphrase === null) {
    lines.push(
      `The passphrase of the keystores was created too: ${displayPath(folder.passphrase)}. Keep a copy of it and of`,
      `${displayPath(folder.keystores)}; set COUNTERSIGN_PASSPHRASE_FILE to keep the passphrase elsewhere.`,
    )
  }
  if (service.welcome !== null) {
    const until = isoSeconds(service.welcome.expiresAtSeconds)
    lines.push(
      '',
      `The dashboard has no account yet. To create the first one, open this link, which works once, until ${until}:`,
      `  ${service.welcome.url}`,
    )
  }
  if (values['ATTESTATION_API_KEY'] !== undefined && config.serve.has('attestation')) {
    lines.push('', 'Try it:', '')
    if (first) {
      lines.push(curl(service.url, values['ATTESTATION_API_KEY'], values['VERIFICATION_HASH'] ?? ''))
    } else {
      lines.push(
        `. ${environmentFile}`,
        `curl -s ${service.url}${ATTESTATION_PATHS.attestation.path} -H "x-api-key: $ATTESTATION_API_KEY" -H 'content-type: application/json' \\`,
        `  -d '{"from":"${SAMPLE_WALLET}","chain":"base","verification_hash":"'"$VERIFICATION_HASH"'"}'`,
      )
    }
  }
  return `${lines.join('\n')}\n\n`
}
