import { type Command, type Option, optionsOf, type Word } from '../command-line/command.ts'
import { PROGRAM } from '../program/labels.ts'

const WIDTH = 110

const wrapped = (text: string, width: number): readonly string[] => {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

export const described = (rows: readonly (readonly [name: string, help: string])[]): string => {
  const column = Math.min(28, Math.max(...rows.map(([name]) => name.length))) + 4
  return rows
    .map(([name, help]) => {
      const [first = '', ...others] = wrapped(help, WIDTH - column)
      const gap = name.length + 4 > column ? `\n${' '.repeat(column)}` : ' '.repeat(column - name.length - 2)
      return `  ${name}${gap}${first}\n${others.map((line) => `${' '.repeat(column)}${line}\n`).join('')}`
    })
    .join('')
}

const wordText = ({ name, optional, many }: Word): string => {
  const shown = `${name}${many ? '…' : ''}`
  return optional ? `[${shown}]` : shown
}

const optionText = ({ name, value, short, negatable }: Option): string => {
  const shown = value === null ? `--${negatable ? '[no-]' : ''}${name}` : `--${name} ${value}`
  return short === undefined ? shown : `-${short}, ${shown}`
}

const plain = (text: string): string => text.replaceAll('`', '')

export const usageLine = (command: Command): string => {
  const { noun, verb, words = [] } = command
  const required = optionsOf(command).filter((option) => option.required)
  return [PROGRAM, noun, verb, ...words.map(wordText), ...required.map(optionText), '[options]'].join(' ')
}

export const commandHelp = (command: Command): string => {
  const { summary, description = '', words = [] } = command
  const about = [summary, ...(description === '' ? [] : [description])].map((text) =>
    wrapped(plain(text), WIDTH).join('\n'),
  )
  const options = optionsOf(command).map((option): readonly [string, string] => [
    optionText(option),
    `${plain(option.help)}${option.required ? '. Required' : ''}`,
  ])
  return [
    `Usage: ${usageLine(command)}\n`,
    `${about.join('\n')}\n`,
    ...(words.length > 0 ? [described(words.map((word) => [wordText(word), plain(word.help)]))] : []),
    described(options),
    'Exit codes: 0 success, 1 failure or a problem was found, 2 invalid arguments, 3 a second person must approve.\n',
  ].join('\n')
}

export const nounHelp = (noun: string, commands: readonly Command[]): string =>
  [
    `Usage: ${PROGRAM} ${noun} VERB [options]\n`,
    described(commands.map(({ verb, summary }) => [verb, plain(summary)])),
    `To list the options of a verb: ${PROGRAM} ${noun} VERB --help\n`,
  ].join('\n')

export const usageAfter = (noun: string, command: Command | null): string =>
  command === null
    ? `To list the verbs: ${PROGRAM} ${noun} --help\n`
    : `Usage: ${usageLine(command)}\nTo list the options: ${PROGRAM} ${noun} ${command.verb} --help\n`
