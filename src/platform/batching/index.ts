export { createGatherer, type GathererOptions, OverloadedError } from './gatherer.ts'
