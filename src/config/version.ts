// The program's version, for whoever may not read the package's own file.
import { version } from '../../package.json'

export const VERSION: string = version
