export { PatternMatcher, patternPlacesMax } from './matcher.ts'
export { literalChoice, PatternError, type PatternNode, parsePattern } from './parse.ts'
