// Maps columns and rows of a zone to the picture: a plane in perspective with eight parameters, fitted by least
// squares. Source: Hartley and Zisserman, Multiple View Geometry, §4.1 (inhomogeneous solution).

export interface Point {
  readonly x: number
  readonly y: number
}

/** Cell of the zone, and its letter's position in the picture. */
export interface Match extends Point {
  readonly column: number
  readonly row: number
}

export type Plane = (column: number, row: number) => Point

/** Solves the system by Gauss-Jordan elimination with pivoting; null if there is no unique solution. */
const solve = (system: number[][]): number[] | null => {
  const size = system.length
  for (let column = 0; column < size; column++) {
    let pivot = column
    for (let row = column + 1; row < size; row++) {
      if (Math.abs(system[row]![column]!) > Math.abs(system[pivot]![column]!)) pivot = row
    }
    if (Math.abs(system[pivot]![column]!) < 1e-9) return null
    ;[system[column], system[pivot]] = [system[pivot]!, system[column]!]
    const lead = system[column]!
    for (let row = 0; row < size; row++) {
      if (row === column) continue
      const line = system[row]!
      const factor = line[column]! / lead[column]!
      if (factor !== 0) for (let at = column; at <= size; at++) line[at]! -= factor * lead[at]!
    }
  }
  return system.map((line, at) => line[size]! / line[at]!)
}

/** Scale columns (tens) and pixels (thousands) to about 1, so that all terms have similar weight. */
const COLUMNS = 20
const PIXELS = 1_000

export const fitPlane = (matches: readonly Match[]): Plane | null => {
  const system = Array.from({ length: 8 }, () => new Array<number>(9).fill(0))
  const add = (line: readonly number[], value: number): void => {
    for (let row = 0; row < 8; row++) {
      for (let column = 0; column < 8; column++) system[row]![column]! += line[row]! * line[column]!
      system[row]![8]! += line[row]! * value
    }
  }
  for (const { column, row, x, y } of matches) {
    const [c, r, px, py] = [column / COLUMNS - 1, row, x / PIXELS, y / PIXELS]
    add([c, r, 1, 0, 0, 0, -c * px, -r * px], px)
    add([0, 0, 0, c, r, 1, -c * py, -r * py], py)
  }
  // Regularization, because two rows barely determine the perspective.
  for (const at of [6, 7]) system[at]![at]! += 1e-3
  const h = solve(system)
  if (h === null) return null
  return (column, row) => {
    const c = column / COLUMNS - 1
    const w = h[6]! * c + h[7]! * row + 1
    return {
      x: (PIXELS * (h[0]! * c + h[1]! * row + h[2]!)) / w,
      y: (PIXELS * (h[3]! * c + h[4]! * row + h[5]!)) / w,
    }
  }
}
