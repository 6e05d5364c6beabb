export { iso8583Inspector } from './inspect.ts'
