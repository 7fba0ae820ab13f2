// A temporary copy of the tree with its uncommitted changes, for changes that must not affect the caller's tree.
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dir, '..', '..')

export interface TreeCopy {
  readonly path: string
  /** Folder for the temporary folders of the copy's tests. */
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
 * Copies tracked files and new files that Git does not ignore; links `node_modules`.
 * @param isCopied filters by the path from the root
 */
export const copyTree = (isCopied: (name: string) => boolean = () => true): TreeCopy => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-copy-'))
  // Tests with PostgreSQL run the server as another user, who must be able to reach its folder.
  chmodSync(folder, 0o755)
  const path = join(folder, 'tree')
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary)
  for (const name of trackedFiles()) {
    // Deleted without a commit.
    if (!isCopied(name) || !existsSync(join(ROOT, name))) continue
    mkdirSync(dirname(join(path, name)), { recursive: true })
    copyFileSync(join(ROOT, name), join(path, name))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'))
  return { path, temporary, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
