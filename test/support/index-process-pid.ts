// Finds a process of the decision search by its program and its data folder, as an operator would.
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
    // The process has ended in the meantime.
    return ''
  }
}

/** Linux only. @throws Error if there is no such process */
export const indexProcessPid = (role: IndexRole, folder: string): number => {
  const pid = readdirSync('/proc').find((name) => {
    if (!/^\d+$/.test(name)) return false
    const command = commandOf(name)
    return command.includes(PROGRAMS[role]) && command.includes(folder)
  })
  if (pid === undefined) throw new Error(`${PROGRAMS[role]} is not running for ${folder}`)
  return Number(pid)
}
