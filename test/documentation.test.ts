// Commands of the documentation. The `curl` and `countersign` lines of shell blocks run against one service, in the
// order of the pages. Other `countersign` commands must exist in its help. All others are listed here with a test or a
// reason.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import manifest from '../package.json'
import { cleanEnvironment, runToEnd } from './service/run-to-end.ts'
import { type RunningService, runCommand, startService } from './service/start-service.ts'
import { newFolder } from './support/folder.ts'
import { words } from './support/words.ts'

const ROOT = join(import.meta.dir, '..')
const COUNTERSIGN = /^(?:bun run )?countersign (?=[a-z-])/

/** Pages whose shell blocks run, in this order. */
const RUN = words`
  README.md docs/attestation-api.md docs/policies.md docs/identity.md docs/operations.md docs/administration.md
  docs/documents.md docs/many-machines.md SECURITY.md
`
const PAGES = [
  ...new Set([
    ...RUN,
    ...words`*.md docs/**/*.md deploy/**/*.md clients/**/*.md docs/examples/*.ts src/client/README.md`.flatMap(
      (pages) => [...new Glob(pages).scanSync({ cwd: ROOT })].sort(),
    ),
  ]),
].filter((page) => page !== 'CHANGELOG.md')

/** Commands that do not run here: the test that runs each, or the reason why none does. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'bun start --processes 4': 'test/long/service/processes.test.ts',
  'bun start --tracing-url http://127.0.0.1:4318 --tracing-sample 1': 'test/service/tracing.test.ts',
  'bun start --config docs/examples/screener.yaml': 'test/facts/screener-stub.test.ts',
  'bun run countersign screener-stub': 'test/facts/screener-stub.test.ts',
  'bun …': 'stands for the others',
  '. ./data/quickstart.env': 'the commands get its variables',
  'bun run countersign policy activate ID --revision 4 --override-second-person --reason "Ada and Bob are on a plane"':
    'test/cli/second-person.test.ts',
  'bun run countersign migrate --from sqlite:data/countersign.db --to file:/run/secrets/store':
    'test/long/cli/migrate.test.ts',
  'bun src/cli/countersign.ts restore --from /backup --try': 'test/long/cli/restore-trial.test.ts',
  'systemctl reload': 'needs systemd; test/long/service/processes.test.ts sends the SIGHUP that it stands for',
  'kill -HUP': 'test/long/service/processes.test.ts',
  'chown 1000 store passphrase evidence-key': 'needs the rights of another user',
  'chmod 600': 'needs no program of ours',
  'curl -N': 'an option, not a command',
  'bun run test': 'runs this test',
  'bun run check': 'runs before every commit',
  'bun run format': 'changes the tree',
  'BENCH_KEY="$ATTESTATION_API_KEY" bun run bench --url "$ATTESTATION_URL" --to "$DEMO_CONTRACT" --rate 2000 --quick':
    'test/long/bench/run.test.ts',
  'bun bench/compare.ts before.json after.json': 'test/bench/result.test.ts',
  'bun bench/speed-page.ts result.json': 'test/bench/speed-page.test.ts',
  'bun bench/token-speed.ts --write': 'takes two minutes and needs SoftHSM; test/bench/token-speed.test.ts',
  'bun test/service/api-promises.ts': 'writes what the API adds; test/service/api-promises.test.ts',
  'bun docs/generate-tables.ts --write': 'test/papers.test.ts',
  'bun audit fix': 'changes what is installed',
  'go mod edit -require countersign.example/client@v0.0.0 -replace countersign.example/client=/path/to/clone/clients/go':
    'the path is the reader’s; test/clients builds the module',
  'pip install ./clients/python': 'changes the machine; test/clients runs the folder',
  'tar -C image -c . | docker load': 'needs Docker',
  'bun test --timeout 30000 ./test/policy/cost.test.ts': 'the suite runs that file',
}
/** Kinds of commands that do not run here, and the reason. */
const KINDS: ReadonlyArray<readonly [kind: RegExp, reason: string]> = [
  [/^git clone <this repository> countersign(?: && cd countersign)?$/, 'the address is the reader’s'],
  [/^bun start(?: --help)?$/, 'test/service/lifecycle.test.ts'],
  [/^npx -y bun@1\.4\.4 (?:start|…)$/, 'the test of npx below runs a command of the same kind'],
  [/^bun install(?: --frozen-lockfile)?$/, 'package.json runs it before every test run'],
  [/^bun run test(?: |:)core$|^bun run test:long$/, 'takes minutes; .ci/run runs them'],
  [/^bun (?:run dev|run test:watch|--inspect src\/main\.ts --workers 0)$/, 'runs until it is stopped'],
  [/^bun run test:mutate(?: --sample 300 --seed 7)?$/, 'takes half an hour; test/mutate/mutants.test.ts'],
  [/^bun run bench(?: --json > result\.json| --(?:help|quick|ratios))?$/, 'takes minutes; test/bench/options.test.ts'],
  [/^bun run bench --only (?:overload|peers|scale|soak|sweep)$/, 'takes minutes; test/bench/options.test.ts'],
  [/^bun run countersign plan(?: --rate 5000 --p99 20ms)?$/, 'measures this machine; test/long/bench/run.test.ts'],
  [/^bun contracts\/(?:gas\.ts(?: --write)?|(?:solana\/)?build\.ts|solana\/costs\.ts)$/, 'test/chain'],
  [/^bun audit(?: --production)?$/, 'requests the registry; test/advisories.test.ts runs the check around it'],
  [/^(?:npm install|bun add) \.\/countersign-client-\*\.tgz$/, 'test/long/client/package.test.ts'],
  [/^bun deploy\/release\/[a-z-]+\.ts/, 'test/release and test/long/oci-image.ts run the scripts'],
  [/^bun test\/long\/[a-z-]+\.ts/, 'takes minutes'],
  [/^(?:mkdir|openssl|printf|for|ln|done)\b/, 'test/cluster/proxies.test.ts runs the block of deploy/README.md'],
  [/^sudo (?:CODE=\S+ )?\S+\/countersign-command /, 'test/deploy/unit-command.test.ts runs the script'],
  [/^sudo (?:ln|systemctl) /, 'needs systemd'],
  [/^docker /, 'needs Docker'],
  [/^kubectl /, 'needs Kubernetes'],
  [/^solana(?:-keygen)? /, 'needs the Solana tools and a cluster; test/chain/solana-programs.test.ts runs the program'],
  [/bun docs\/examples\//, 'test/examples and test/identity/relay.test.ts run the files'],
]

const PROGRAMS =
  /^(?:[A-Z_]+=\S+ )*(?:\.|bun|bash|cat|chmod|chown|countersign|cp|curl|docker|for|git|go|helm|kill|kubectl|ln|mkdir|node|npm|npx|openssl|pip|printf|psql|python3?|rm|sh|solana|solana-keygen|sudo|systemctl|tar) \S/

interface Printed {
  readonly page: string
  readonly command: string
  /** Whether it is in a shell block. */
  readonly inBlock: boolean
}

/** Joins continuation lines, and removes comments. */
const linesOf = (block: string): readonly string[] =>
  block
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => PROGRAMS.test(line))

const printed: readonly Printed[] = PAGES.flatMap((page) => {
  const text = readFileSync(join(ROOT, page), 'utf8')
  if (page.endsWith('.ts')) {
    const comments = text.matchAll(/^\/\/ {3}(?:.* )?((?:[A-Z_]+=\S+ )*bun docs\/\S+)/gm)
    return [...comments].map(([, command = '']) => ({ page, command, inBlock: false }))
  }
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, kind = '', block = '']) =>
    (['sh', 'text', ''].includes(kind) ? linesOf(block) : []).map((line) => ({
      page,
      command: kind === 'sh' ? line : line.replace(/ {3,}.*$/, ''),
      inBlock: kind === 'sh',
    })),
  )
  const spans = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)]
    .map(([, command = '']) => command)
    .filter((command) => PROGRAMS.test(command))
  return [...blocks, ...spans.map((command) => ({ page, command, inBlock: false }))]
})

const commands = RUN.flatMap((page) =>
  printed.filter((line) => line.page === page && line.inBlock && /^(?:curl|bun run countersign) /.test(line.command)),
).map(({ command }) => command)
const others = [...new Set(printed.map(({ command }) => command))].filter((command) => !commands.includes(command))
const listed = (command: string): boolean => command in ELSEWHERE || KINDS.some(([kind]) => kind.test(command))
/** Commands outside of shell blocks, whose verb and options must exist. */
const mentioned = others.filter((command) => !listed(command) && COUNTERSIGN.test(command))

/** A line of docs/identity.md that sets a variable of later commands. */
const SESSION_LINE = 'SESSION_ID="$(bun run countersign session list --environment live --limit 1 --quiet)"'

/** Replaces the folders of the pages. */
const folder = newFolder()
const inFolder = (command: string): string =>
  (command.includes('$SESSION_ID') ? `${SESSION_LINE}; ${command}` : command)
    .replaceAll(/(?<=[ :])\/(share|backups|srv)\//g, `${folder}/$1/`)
    .replace(/> (\S+)$/, `> ${folder}/$1 && cat ${folder}/$1`)

let service: RunningService

/** Provides `bun run countersign` in the shell, whose commands run in this process to save the start of a program. */
const startCommandServer = (): { readonly path: string; stop(): Promise<void> } => {
  const socket = join(folder, 'commands')
  const path = join(folder, 'path')
  let count = 0
  const server = Bun.serve({
    unix: socket,
    fetch: async (request, listener) => {
      listener.timeout(request, 0)
      const words = (await request.text()).split('\0').slice(0, -1)
      const { code, stdout, stderr } = await runCommand(service.dataDirectory, ...words)
      const answer = join(folder, `answer-${++count}`)
      writeFileSync(`${answer}.out`, stdout)
      writeFileSync(`${answer}.err`, stderr)
      return new Response(`cat ${answer}.out; cat ${answer}.err >&2; exit ${code}`)
    },
  })
  mkdirSync(path)
  const program = `#!/bin/sh
[ "$1 $2" = "run countersign" ] || exit 127
shift 2
eval "$(printf '%s\\0' "$@" | curl -sf --data-binary @- --unix-socket ${socket} http://commands || echo exit 126)"
`
  writeFileSync(join(path, 'bun'), program, { mode: 0o755 })
  return { path, stop: () => server.stop(true) }
}
let commandServer: ReturnType<typeof startCommandServer>

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  commandServer = startCommandServer()
})
afterAll(async () => {
  await commandServer.stop()
  await service.stop()
})

describe('the commands of the documentation', () => {
  test('are recognized', () => {
    expect(commands.filter((line) => line.startsWith('curl')).length).toBeGreaterThanOrEqual(3)
    expect(commands.filter((line) => line.startsWith('bun run countersign')).length).toBeGreaterThanOrEqual(50)
    expect(mentioned.length).toBeGreaterThanOrEqual(15)
    expect(readFileSync(join(ROOT, 'docs/identity.md'), 'utf8')).toContain(`\n${SESSION_LINE}\n`)
  })

  test('run here, exist in the help, or are listed with a reason', () => {
    expect(others.filter((command) => !listed(command) && !mentioned.includes(command))).toEqual([])
  })

  test('are listed only if they are printed, with existing tests and files', () => {
    const all = new Set(printed.map(({ command }) => command))
    expect(Object.keys(ELSEWHERE).filter((command) => !all.has(command))).toEqual([])
    expect(KINDS.filter(([kind]) => ![...all].some((command) => kind.test(command)))).toEqual([])
    const reasons = [...Object.values(ELSEWHERE), ...KINDS.map(([, reason]) => reason)]
    const files = [...reasons, ...all].flatMap((text) => text.match(/\b(?:[a-z-]+\/)+[a-z-]+(?:\.test)?\.ts\b/g) ?? [])
    expect(files.length).toBeGreaterThan(20)
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
    const scripts = [...all].flatMap((command) => /^bun run ([a-z:]+)/.exec(command)?.[1] ?? [])
    expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([])
  })

  for (const [index, command] of commands.entries()) {
    test(`${index + 1}: ${command.slice(0, 100)}`, async () => {
      const { code, stdout, stderr } = await runToEnd(['bash', '-c', inFolder(command)], {
        ...service.quickstart,
        PATH: `${commandServer.path}:${process.env['PATH']}`,
      })
      expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' })
      expect(stdout.length + stderr.length).toBeGreaterThan(0)
      expect(stdout).not.toContain('problem:')
    })
  }
})

describe('a command outside of shell blocks has a verb and options of its help', () => {
  const verbs = new Map<string, string[]>()
  for (const command of mentioned) {
    const words = command.replace(COUNTERSIGN, '').split(' ')
    const verb = words[0] ?? ''
    verbs.set(verb, [...(verbs.get(verb) ?? []), command])
  }
  const usage = runToEnd(['bun', 'run', 'countersign', '--help'])

  test.each([...verbs])('%s', async (verb, mentions) => {
    const { code, stdout } = await runCommand(service.dataDirectory, verb, '--help')
    expect(code).toBe(0)
    for (const command of mentions) {
      const [, second = '', ...rest] = command.replace(COUNTERSIGN, '').split(' ')
      const actions = /^[a-z][a-z|-]*$/.test(second) ? second.split('|') : []
      const own = actions.map((action) => runCommand(service.dataDirectory, verb, action, '--help'))
      const texts = [stdout, (await usage).stdout, ...(await Promise.all(own)).map((result) => result.stdout)]
      const help = texts.join('').replaceAll('--[no-]', '--no-') + texts.join('').replaceAll('--[no-]', '--')
      const missing = [
        ...actions.filter((action) => !new RegExp(`(?:^|[ |])${action}\\b`, 'm').test(help)),
        ...[second, ...rest].filter((word) => word.startsWith('--') && !help.includes(word)),
      ]
      expect({ command, missing }).toEqual({ command, missing: [] })
    }
  })
})

const NPX_MISSING = Bun.which('npx') === null || Bun.which('node') === null
test.skipIf(NPX_MISSING)('with Node and without Bun, npx runs the Bun of the project', async () => {
  const version = /npx -y (bun@\S+)/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8'))?.[1] ?? ''
  expect(version).toBe(manifest.packageManager)
  const programs = join(folder, 'programs')
  rmSync(programs, { recursive: true, force: true })
  await Bun.$`mkdir -p ${programs}`.quiet()
  for (const name of ['node', 'npm', 'npx', 'sh', 'env', 'uname'])
    symlinkSync(Bun.which(name) ?? name, join(programs, name))
  const environment = { ...cleanEnvironment(), PATH: programs }
  const run = (...words: readonly string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([join(programs, 'npx'), '-y', version, ...words], {
      cwd: ROOT,
      env: environment,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
  }
  const first = run('--version')
  // npm cannot reach a registry and has not fetched Bun before.
  if (/E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|TIMEDOUT|NETUNREACH)/.test(first.stderr)) {
    process.stderr.write('npx cannot reach a registry, so its commands did not run\n')
    return
  }
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining(version.slice('bun@'.length)) })
  const help = run('run', 'countersign', 'keys', '--help')
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('regenerate') })
})
