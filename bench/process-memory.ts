// Resident memory of a process and its living descendants, as reported by the kernel. Source: proc(5),
// "/proc/pid/status".
import { childrenOf, readIfThere } from './cpu.ts'

/** Megabytes (10^6 bytes) in the text of a status file; 0 for a process that has just ended. */
export const parseResident = (status: string): number =>
  (Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1_024) / 1e6

/** Counts a page once for each process that shares it. Null if the memory can't be read. */
export const treeResidentMegabytes = (pid: number): number | null => {
  if (process.platform !== 'linux') return null
  const status = readIfThere(`/proc/${pid}/status`)
  if (status === null) return null
  return childrenOf(pid).reduce((total, child) => total + (treeResidentMegabytes(child) ?? 0), parseResident(status))
}
