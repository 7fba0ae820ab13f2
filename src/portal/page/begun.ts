// Remembers whether the person has seen in this browser who asks, and why. A person who was given a link that continues
// a session has not, and is told before they give anything (threats row 4).

const keyOf = (sessionId: string): string => `portal-begun-${sessionId}`

export const hasBegun = (sessionId: string): boolean => {
  try {
    return localStorage.getItem(keyOf(sessionId)) !== null
  } catch {
    // Storage is forbidden: the person is told again.
    return false
  }
}

export const forgetBegun = (sessionId: string): void => {
  try {
    localStorage.removeItem(keyOf(sessionId))
  } catch {
    // Storage is forbidden: there is nothing in it.
  }
}

export const rememberBegun = (sessionId: string): void => {
  try {
    localStorage.setItem(keyOf(sessionId), '1')
  } catch {
    // Not stored: the person is told again next time.
  }
}
