export { rsfnInspector } from './inspector.ts'
