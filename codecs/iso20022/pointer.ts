const charactersShown = 64

/**
 * A member's name as a step of a JSON Pointer (RFC 6901, 3), cut after 64 characters.
 *
 * @example pointerStep('a/b') // 'a~1b'
 */
export const pointerStep = (name: string): string => {
  // A character takes two units at most.
  const characters = Array.from(name.slice(0, 2 * charactersShown)).slice(0, charactersShown)
  return characters.join('').replaceAll('~', '~0').replaceAll('/', '~1')
}
