export { patternPlacesMax } from './automaton.ts'
export type { LinearPattern } from './linear.ts'
export { PatternMatcher } from './matcher.ts'
export { PatternError, parsePattern } from './parse.ts'
