import { type Command, optionsOf } from '../command-line/command.ts'
import { type CommandOutput, UsageError } from '../command-line/output.ts'
import { PROGRAM } from '../program/labels.ts'
import { commandsOf, NOUNS } from './commands.ts'
import { VERBS } from './verbs.ts'

const flagsOf = (command: Command): readonly string[] =>
  optionsOf(command).flatMap(({ name, negatable }) => [`--${name}`, ...(negatable ? [`--no-${name}`] : [])])

/** Returns the next words by the preceding words: `key create` → its options, `key create --kind` → its choices. */
const candidates = (): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, readonly string[]>([['', [...NOUNS, ...Object.keys(VERBS), 'help']]])
  for (const noun of NOUNS) {
    const commands = commandsOf(noun)
    found.set(
      noun,
      commands.map(({ verb }) => verb),
    )
    for (const command of commands) {
      found.set(`${noun} ${command.verb}`, flagsOf(command))
      for (const { name, choices = [] } of command.options ?? []) {
        if (choices.length > 0) found.set(`${noun} ${command.verb} --${name}`, choices)
      }
    }
  }
  return found
}

/** Branches of a shell `case` over noun, verb and previous word. */
const branches = (): string =>
  [...candidates()].map(([words, next]) => `    '${words}') echo '${next.join(' ')}' ;;\n`).join('')

const COMMON = (): string => `_countersign_words() {
  case "$1" in
${branches()}  esac
}
_countersign_next() {
  local words
  if [ "$#" -ge 3 ]; then words=$(_countersign_words "$1 $2 $3"); fi
  if [ -z "$words" ]; then words=$(_countersign_words "\${1:-}\${2:+ $2}"); fi
  echo "$words"
}
`

const SCRIPTS: Readonly<Record<string, () => string>> = {
  bash: () => `${COMMON()}_countersign() {
  local before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  local last=
  [ "\${#before[@]}" -le 2 ] || last=\${before[-1]}
  COMPREPLY=($(compgen -W "$(_countersign_next "\${before[0]:-}" "\${before[1]:-}" "$last")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _countersign countersign
`,
  zsh: () => `#compdef countersign
${COMMON()}_countersign() {
  local last=
  (( CURRENT > 4 )) && last=\${words[CURRENT-1]}
  local noun= verb=
  (( CURRENT > 2 )) && noun=\${words[2]}
  (( CURRENT > 3 )) && verb=\${words[3]}
  compadd -- \${=$(_countersign_next "$noun" "$verb" "$last")} || _files
}
compdef _countersign countersign
`,
  fish: () =>
    [...candidates()]
      .map(([words, next]) => {
        // After the verb, files are completed too.
        const only = words.split(' ').length === 2 ? '' : ' -f'
        return `complete -c countersign${only} -n '__countersign_is "${words}"' -a '${next.join(' ')}'\n`
      })
      .join('')
      .replace(
        /^/,
        `function __countersign_is
  set -l before (commandline -opc)[2..-1]
  set -l start (string join ' ' $before[1..2])
  test "$argv[1]" = "$start"; and return 0
  test (count $before) -gt 2; and test "$argv[1]" = "$start $before[-1]"
end
`,
      ),
}

export const runCompletion = ([shell = '', ...others]: readonly string[], output: CommandOutput): number => {
  if ([shell, ...others].some((word) => word === '--help' || word === '-h')) {
    output.stdout(
      `Usage: ${PROGRAM} completion bash|zsh|fish\n\nPrints a completion script, for example for: source <(${PROGRAM} completion bash)\n`,
    )
    return 0
  }
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined
  if (script === undefined || others.length > 0)
    throw new UsageError(`the shell must be bash, zsh or fish. Example: ${PROGRAM} completion bash`)
  output.stdout(script())
  return 0
}
