// Finds a process of the decision search from outside, as an operator would: by its program and its data folder.
import { readdirSync, readFileSync } from 'node:fs'
import type { IndexRole } from '../../src/admin/decisions/search.ts'

const PROGRAMS: Readonly<Record<IndexRole, string>> = {
  find: 'decision-search.process.ts',
  build: 'decision-index.process.ts',
}

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // It ended meanwhile.
    return ''
  }
}

/** Linux only. @throws Error when there is none. */
export const indexProcessPid = (role: IndexRole, folder: string): number => {
  const pid = readdirSync('/proc').find((name) => {
    if (!/^\d+$/.test(name)) return false
    const command = commandOf(name)
    return command.includes(PROGRAMS[role]) && command.includes(folder)
  })
  if (pid === undefined) throw new Error(`no ${PROGRAMS[role]} of ${folder} runs`)
  return Number(pid)
}
