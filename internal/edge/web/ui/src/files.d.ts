// The bundler copies these files and gives their addresses beside its own.
declare module "*.svg" {
  const address: string;
  export default address;
}
