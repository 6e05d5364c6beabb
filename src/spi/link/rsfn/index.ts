export { rsfnInspector } from './inspector.ts'
export { rsfnProblems } from './keys.ts'
