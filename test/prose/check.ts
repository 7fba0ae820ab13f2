// Reports constructions that the style of CONTRIBUTING.md rules out. Run by `bun run check`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { answerHelp } from '../support/head-help.ts'
import { PROSE_RULES } from './rules.ts'
import { type Text, textsOfPage, textsOfSource } from './texts.ts'

answerHelp(import.meta)

const ROOT = join(import.meta.dir, '..', '..')

/** Files whose English has been edited. A file is added once it has no finding; in the end, the list is every file. */
const EDITED = [
  '{CHANGELOG,CONTRIBUTING,README,SECURITY}.md',
  'bench/tried.md',
  'docs/{README,administration,architecture,asvs,attestation-api,configuration,contracts,decisions,documents,hardware-keys,identity,load-testing,many-machines,operations,policies,running,screening,security,sizing,solana-program,speed,threat-model,transparency}.md',
  'deploy/README.md',
  'deploy/prometheus/alerts.yaml',
  'docs/providers/*.md',
  'src/client/**/*.{ts,tsx}',
  'src/attestation/**/*.{ts,tsx}',
  'src/{pool,signing}/*.ts',
  'src/domain/*.ts',
  'src/decision-log/**/*.{ts,tsx}',
  'src/setup/*.ts',
  'src/telemetry/{[!m]*,metrics}.ts',
  'src/store/**/*.ts',
  'src/{config,facts,identity,module-interface,object-store,program,server}/**/*.ts',
  'src/modules/{backups,hardware-keys,providers,tracing}/**/*.{ts,tsx}',
  'src/modules/{documents,log-shipping,policy-lab,screening,session-policies,transparency}/*.ts',
  'src/modules/{documents,policy-lab,screening,session-policies,transparency}/{commands,worker}/**/*.ts',
  'src/modules/documents/{checks,operations}/**/*.ts',
  'src/modules/log-shipping/{commands,worker}/**/*.ts',
  'src/modules/policy-lab/service/*.ts',
  'src/modules/screening/{checks,formats,lists,matching,processes}/**/*.ts',
  'src/modules/transparency/{operations,store,tree,verify}/**/*.ts',
  'src/zone-reader/**/*.ts',
  'src/lib/**/*.{ts,tsx}',
  'src/policy/**/*.ts',
  'src/portal/*.ts',
  'src/portal/page/*.{ts,tsx}',
  'src/portal/page/{details,documents,screens,ui,wallets}/*.{ts,tsx}',
  'src/pages/**/*.{ts,tsx}',
  'src/cluster/**/*.{ts,tsx}',
  'src/compose/**/*.{ts,tsx}',
  'src/command-line/**/*.{ts,tsx}',
  'src/cli/**/*.{ts,tsx}',
  'src/admin/{live,policies,second-person}/*.ts',
  'src/dashboard/*.ts',
  'src/dashboard/reference/*.ts',
  'src/dashboard/page/*.{ts,tsx}',
  'src/dashboard/page/{account,api,approvals,attest,audit,data,entry,keys,lists,shell,ui,webhooks}/*.{ts,tsx}',
  'test/mutate/*.ts',
  'test/prose/texts.ts',
  'workers/**/*.ts',
]

/** Sentences that break a rule for a reason: part of the text, and the file. */
const ALLOWED: readonly (readonly [file: string, text: string])[] = [
  ['CONTRIBUTING.md', '"what was found", "whoever calls"'],
]

const read = (file: string): Text[] => {
  const source = readFileSync(join(ROOT, file), 'utf8')
  return /\.(?:md|yaml)$/.test(file) ? textsOfPage(file, source) : textsOfSource(file, source)
}

const findings = EDITED.flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)])
  .filter((file) => !file.includes('/dist/'))
  .flatMap(read)
  .filter(({ file, text }) => !ALLOWED.some(([allowed, part]) => allowed === file && text.includes(part)))
  .flatMap(({ file, line, text }) =>
    PROSE_RULES.flatMap(({ pattern, advice }) => {
      const found = pattern.exec(text)?.[0].trim()
      return found === undefined ? [] : [`${file}:${line}: "${found}": ${advice}`]
    }),
  )

for (const finding of findings) console.error(finding)
if (findings.length > 0) process.exit(1)
