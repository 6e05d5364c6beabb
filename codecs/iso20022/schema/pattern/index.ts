export { patternPlacesMax } from './automaton.ts'
export { PatternMatcher } from './matcher.ts'
export { PatternError, type PatternNode, parsePattern } from './parse.ts'
