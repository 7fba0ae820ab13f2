// Earlier spellings of commands, compared with the table of commands.
import { expect, test } from 'bun:test'
import { COMMANDS, commandsOf } from '../../src/cli/commands.ts'
import { EARLIER_SPELLINGS, translateEarlier } from '../../src/cli/earlier-spellings.ts'
import { optionsOf, parseGiven } from '../../src/command-line/command.ts'

const translate = (line: string): string => {
  const [noun = '', ...args] = line.split(' ')
  return translateEarlier([noun, ...args], commandsOf).join(' ')
}

test.each(EARLIER_SPELLINGS)('%s runs %s with its options', (from, to, renamed = {}) => {
  const [noun = '', verb = ''] = to.split(' ')
  const target = COMMANDS.find((command) => command.noun === noun && command.verb === verb)
  if (target === undefined) throw new Error(`${noun} ${verb} is not a command`)
  const required = optionsOf(target).filter(
    ({ required, name }) => required && !to.includes(`${name}=`) && !to.includes('required'),
  )
  // If two commands have the same earlier spelling, an option of the second distinguishes them.
  const isSecond = EARLIER_SPELLINGS.find(([each]) => each === from)?.[1] !== to
  const renamedTo = (name: string): string | undefined =>
    Object.keys(renamed).find((option) => renamed[option]?.startsWith(`--${name}=`))
  const rest = [...required, ...(isSecond ? optionsOf(target).slice(0, 1) : [])].map(
    ({ name, choices = ['basic'] }) => `--${renamedTo(name) ?? `${name} ${choices[0]}`}`,
  )
  const own = Object.keys(renamed).map((option) => `--${option}`)
  const line = `${[from, ...rest, ...own].join(' ')} --json`.replaceAll(/[A-Z]+…?/g, 'basic')
  const [newNoun, ...args] = translate(line).split(' ')
  expect(newNoun).toBe(noun)
  expect(parseGiven(target, args).flag('json')).toBe(true)
  expect(args.join(' ')).not.toMatch(/[A-Z]/)
})

test.each([
  ['keys issue --org demo --kind admin --test', 'key create --name=unnamed --org=demo --kind=admin --environment=test'],
  ['keys --json list', 'key --json list'],
  ['lists add deny a b --memo list', 'list add deny a b --memo list'],
  ['lists source l --from f --every 12h', 'list-source update --from=f --every=12h -- l'],
  ['lists source l --none --shared', 'list-source delete --shared -- l'],
  ['org trust a b c', 'verification-trust update --trusts=listed --organizations=b,c --org=a'],
  ['org trust a none', 'verification-trust update --trusts=none --org=a'],
  ['org minimum-age a 21 --level enhanced', 'minimum-age update --enhanced=21 --org=a'],
  ['org second-person off', 'second-person-rule update --no-required --deployment'],
  ['org second-factor a on', 'second-factor-rule update --required --org=a'],
  ['project try p --request-chain base --request-msg-value=1', 'project try --chain=base --msg-value=1 -- p'],
  ['project try p --chain base', 'project try --chain=base -- p'],
  ['project unbind p --chain base --address 0x', 'binding delete --project=p --chain=base -- 0x'],
  ['screening settings --org a', 'screening show --org=a'],
  ['screening settings --threshold=80', 'screening update --threshold=80'],
  ['screening settings --screeners-again off', 'screening update --no-screeners-again'],
  ['screening enable l --url https://x.example', 'screening-list enable --fetch-url=https://x.example -- l'],
  ['session list --live -q', 'session list --environment=live --quiet'],
  ['session list --environment test', 'session list --environment test'],
  ['session show policy', 'session show policy'],
  ['session policy off', 'session-policy update --policy=none'],
  ['policy shadow p --revision 2', 'policy shadow p --revision 2'],
  ['webhook add --url u --decides', 'webhook create --url=u --purpose=decisions'],
  ['webhook resend --dead', 'webhook-message resend-dead'],
  ['evidence retention -h', 'evidence-retention update --help'],
  ['org level --help', 'organization update --help'],
  ['org lvl a', 'organization lvl a'],
])('%s runs %s', (earlier, current) => expect(translate(earlier)).toBe(current))

test('an earlier spelling with invalid arguments or options is rejected, and the message names the command', () => {
  expect(() => translate('org level canary')).toThrow('org level is called organization update,')
  expect(() => translate('project bind a b')).toThrow('see bun run countersign help binding create')
})
