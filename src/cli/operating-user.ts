// Name of the user that runs a command. Anyone can set the variable USER, which the runtime's userInfo() trusts.
import { readFileSync } from 'node:fs'

/** Searches `name:password:uid:…` (passwd(5)); null if not found. */
const nameInPasswd = (text: string, uid: number): string | null => {
  for (const line of text.split('\n')) {
    const [name = '', , id] = line.split(':')
    if (id === String(uid) && name !== '') return name
  }
  return null
}

const readPasswd = (): string => {
  try {
    return readFileSync('/etc/passwd', 'utf8')
  } catch {
    // Some container images have no /etc/passwd.
    return ''
  }
}

/** id(1) also finds users of directory services such as LDAP. */
const nameFromDirectory = (): string | null => {
  try {
    const { exitCode, stdout } = Bun.spawnSync(['/usr/bin/id', '-un'], { stdin: 'ignore', stderr: 'ignore', env: {} })
    const name = stdout.toString().trim()
    return exitCode === 0 && name !== '' ? name : null
  } catch {
    // id(1) isn't installed.
    return null
  }
}

interface UserSources {
  readonly uid: number | undefined
  readonly passwd: () => string
  readonly directory: () => string | null
}

/** `uid 1000` for a user without a name. */
export const operatingUser = (
  sources: UserSources = { uid: process.getuid?.(), passwd: readPasswd, directory: nameFromDirectory },
): string => {
  const { uid, passwd, directory } = sources
  if (uid === undefined) return 'unknown'
  return nameInPasswd(passwd(), uid) ?? directory() ?? `uid ${uid}`
}
