// A throw-away copy of the tree, with what is not committed yet: places are changed there and never in the caller's tree.
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dir, '..', '..')

export interface TreeCopy {
  readonly path: string
  /** Where the copy's tests keep their temporary folders. */
  readonly temporary: string
  remove(): void
}

const trackedFiles = (): readonly string[] => {
  const words = ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { exitCode, stdout } = Bun.spawnSync(words, { cwd: ROOT, stdout: 'pipe', stderr: 'inherit' })
  if (exitCode !== 0) throw new Error('git ls-files failed: run this in a clone of the repository')
  return stdout.toString().split('\0').filter(Boolean)
}

/**
 * Git's files and the new ones that it does not ignore; `node_modules` is linked.
 * @param isCopied whether a file is copied, by its path from the root
 */
export const copyTree = (isCopied: (name: string) => boolean = () => true): TreeCopy => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-copy-'))
  // PostgreSQL's tests run their server as another user, who has to reach its folder below this one.
  chmodSync(folder, 0o755)
  const path = join(folder, 'tree')
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  for (const name of trackedFiles()) {
    // Deleted, and that is not committed.
    if (!isCopied(name) || !existsSync(join(ROOT, name))) continue
    mkdirSync(dirname(join(path, name)), { recursive: true })
    copyFileSync(join(ROOT, name), join(path, name))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'))
  return { path, temporary, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
