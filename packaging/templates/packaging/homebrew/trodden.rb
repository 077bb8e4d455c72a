# The formula of a tap; packaging/release-kit --sums SHA256SUMS fills in the sums of a release.
class Trodden < Formula
  desc "Path profiler for the JVM"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on :linux

  on_linux do
    on_intel do
      url "@RELEASES@/v@VERSION@/trodden-@VERSION@-linux-x86_64.tar.gz"
      sha256 "@SUM_X86_64@"
    end
    on_arm do
      url "@RELEASES@/v@VERSION@/trodden-@VERSION@-linux-aarch64.tar.gz"
      sha256 "@SUM_AARCH64@"
    end
  end

  def install
    bin.install "bin/trodden"
    lib.install "lib/libtrodden.so"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/trodden"
    zsh_completion.install "share/zsh/site-functions/_trodden"
    fish_completion.install "share/fish/vendor_completions.d/trodden.fish"
    doc.install Dir["share/doc/trodden/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/trodden --version")
  end
end
