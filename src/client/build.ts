// Builds @countersign/client into src/client/dist as ES modules for Node 20 and Bun. Run by `npm pack`; in a fresh
// clone, it first installs the compiler.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = import.meta.dir
const ROOT = join(FOLDER, '..', '..')
const COMPILER = join(ROOT, 'node_modules', '.bin', 'tsc')

const filesIn = (folder: string): readonly string[] => [...new Bun.Glob('**/*').scanSync({ cwd: folder })]

/** The message is the compiler's output. */
class ClientInvalidError extends Error {
  override readonly name = 'ClientInvalidError'
}

/** Empties `outputFolder` first. @throws ClientInvalidError */
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
    // The compiler rewrites import extensions only in code, not in declarations.
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
  // Standard output is for the package name that npm pack prints.
  process.stderr.write(`${filesIn(folder).length} files in ${folder}\n`)
}
