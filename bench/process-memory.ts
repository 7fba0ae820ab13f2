// The resident memory of a process and its living descendants, from the kernel. Source: proc(5), "/proc/pid/status".
import { readdirSync, readFileSync } from 'node:fs'

const isGone = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ESRCH')

/** Megabytes (10^6 bytes) in the text of a status file; 0 for a process that has just ended. */
export const parseResident = (status: string): number =>
  (Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1_024) / 1e6

const residentOf = (pid: number): number => {
  const own = parseResident(readFileSync(`/proc/${pid}/status`, 'utf8'))
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
      .split(' ')
      .filter((text) => text !== ''),
  )
  return children.reduce((total, child) => total + (treeResidentMegabytes(Number(child)) ?? 0), own)
}

/** A page that several processes share is counted for each of them. Null when it can't be read. */
export const treeResidentMegabytes = (pid: number): number | null => {
  if (process.platform !== 'linux') return null
  try {
    return residentOf(pid)
  } catch (cause) {
    // The process, or one of its threads, ended between the listing and the reading.
    if (isGone(cause)) return null
    throw cause
  }
}
