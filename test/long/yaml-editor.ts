// `bun test/long/yaml-editor.ts`: what Visual Studio Code's YAML extension makes of a template by its schema: its language
// server comes from npm into a temporary folder (needs Node), and is asked as that editor asks it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startEditor } from '../cli/language-editor.ts'
import { answerHelp } from '../support/head-help.ts'
import { until } from '../support/until.ts'

answerHelp(import.meta)

const SERVER = 'yaml-language-server@2.0.0'
const TEMPLATE = join(import.meta.dir, '..', '..', 'docs', 'policies', 'sanctions-and-geography.yaml')
const uri = pathToFileURL(TEMPLATE).href
const check = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what)
  process.stdout.write(`${what}: yes\n`)
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-yaml-editor-'))
try {
  const installed = Bun.spawnSync(['npm', 'install', '--silent', '--no-audit', '--no-fund', SERVER], { cwd: folder })
  if (!installed.success) throw new Error(`npm: ${installed.stderr.toString()}`)
  const editor = await startEditor(['node', join(folder, 'node_modules/.bin/yaml-language-server'), '--stdio'], { uri })
  const source = readFileSync(TEMPLATE, 'utf8')
  check((await editor.show(source)).length === 0, 'the template has no mistake')

  const labelsAt = async (line: number, character: number): Promise<readonly string[]> => {
    const place = { textDocument: { uri }, position: { line, character } }
    const { items = [] } = (await editor.ask('textDocument/completion', place)) ?? {}
    return (items as readonly { readonly label: string }[]).map(({ label }) => label)
  }
  const lines = source.split('\n')
  const rule = lines.findIndex((text) => text.includes('allow: "true"'))
  await editor.show(lines.with(rule, '    ').join('\n'))
  const keys = await labelsAt(rule, 4)
  check(
    ['allow', 'deny', 'require', 'message'].every((key) => keys.includes(key)),
    'the keys of a rule are offered',
  )
  await editor.show(lines.with(rule, '    allow: ').join('\n'))
  const words = await labelsAt(rule, 11)
  const wanted = ['client.located', 'tx.value', 'in_list(wallet.address, "name")', 'screener("name").flagged']
  check(
    wanted.every((word) => words.includes(word)),
    'facts and functions are offered at the beginning of a condition',
  )
  await editor.show(source)
  const place = { textDocument: { uri }, position: { line: rule, character: 5 } }
  let hover = ''
  await until(async () => {
    hover = JSON.stringify(await editor.ask('textDocument/hover', place))
    return hover !== 'null'
  })
  check(hover.includes('client.located'), 'a condition explains the facts')
  const wrong = await editor.show(lines.with(rule, '    allow: 5').join('\n'))
  check(
    wrong.some(({ message }) => message.includes('Incorrect type')),
    'a value of another type is a mistake',
  )
  await editor.stop()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
