// `bun src/client/build.ts`: the code of @countersign/client in src/client/dist, ready to be packed: plain ES modules for
// Node 20 and Bun with their types, one for one from the sources and the paths that the service declares. Nothing is
// bundled. `npm pack` runs it, also in a fresh clone, where it first installs the compiler by the lock file.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = import.meta.dir
const ROOT = join(FOLDER, '..', '..')
const COMPILER = join(ROOT, 'node_modules', '.bin', 'tsc')

const filesIn = (folder: string): readonly string[] => [...new Bun.Glob('**/*').scanSync({ cwd: folder })]

/** The sources do not compile as they are. The message is the compiler's. */
class ClientInvalidError extends Error {
  override readonly name = 'ClientInvalidError'
}

/**
 * Writes everything that the package's `dist` holds to `outputFolder`, which is emptied first.
 * @throws ClientInvalidError
 */
const buildClient = async (outputFolder: string): Promise<void> => {
  rmSync(outputFolder, { recursive: true, force: true })
  const compiler = Bun.spawn([COMPILER, '-p', FOLDER, '--outDir', outputFolder], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const [code, printed] = await Promise.all([compiler.exited, new Response(compiler.stdout).text()])
  if (code !== 0) throw new ClientInvalidError(printed)
  for (const name of filesIn(outputFolder).filter((file) => file.endsWith('.d.ts'))) {
    // The compiler rewrites these in code, not in declarations, where they would name files that are not there.
    const path = join(outputFolder, name)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/((?:from|import\()\s*'\.{1,2}\/[^']+)\.ts'/g, "$1.js'"))
  }
}

if (import.meta.main) {
  const folder = join(FOLDER, 'dist')
  if (!existsSync(COMPILER)) {
    const words = [process.execPath, 'install', '--frozen-lockfile', '--silent']
    await Bun.spawn(words, { cwd: ROOT, stdio: ['ignore', 2, 2] }).exited
  }
  await buildClient(folder)
  // npm pack prints the package's name to standard output, for scripts.
  process.stderr.write(`${filesIn(folder).length} files in ${folder}\n`)
}
